import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Offset } from "@loopledger/shared/core/brand";
import { aheadOf, formatCursor, parseCursor, parseSeq } from "../../services/gateway/src/cursor.ts";

const ledger = { ledgerId: "9f8b1c1e-0000-4000-8000-000000000000", partitions: 4 };
const positions = (offsets: readonly number[]): Map<number, Offset> => new Map(offsets.map((offset, partition) => [partition, offset as Offset]));

describe("the cursor of the stream of all sessions", () => {
  test("reads back as what was written, and stands in a header", () => {
    fc.assert(fc.property(fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { minLength: 4, maxLength: 4 }), (offsets) => {
      const text = formatCursor(ledger, positions(offsets));
      expect(text).toMatch(/^[\x21-\x7e]+$/);
      expect(parseCursor(ledger, text)).toEqual({ kind: "cursor", positions: positions(offsets) });
    }));
  });

  test("any other text is malformed or of another ledger, never a position", () => {
    fc.assert(fc.property(fc.string(), (text) => {
      expect(["malformed", "gone"]).toContain(parseCursor(ledger, text).kind);
    }));
    expect(parseCursor(ledger, `v1~${ledger.ledgerId}~1.2.3`)).toEqual({ kind: "gone" });
    expect(parseCursor({ ...ledger, ledgerId: "other" }, formatCursor(ledger, positions([1, 2, 3, 4])))).toEqual({ kind: "gone" });
  });

  test("lies ahead where any partition ends before it", () => {
    expect(aheadOf(positions([1, 5, 0, 0]), positions([9, 5, 0, 0]))).toBeNull();
    expect(aheadOf(positions([1, 6, 0, 0]), positions([9, 5, 0, 0]))).toBe(1);
    expect(aheadOf(positions([0, 0, 1, 0]), new Map())).toBe(2);
  });
});

test("a session's cursor is digits and nothing else", () => {
  expect(["0", "41", "000", "999999999999999"].map(parseSeq)).toEqual([0, 41, 0, 999_999_999_999_999]);
  expect(["", " 1", "+1", "-1", "1e3", "0x10", "1.0", "١", "1".repeat(16)].map(parseSeq)).toEqual(Array.from({ length: 9 }, () => null));
});
