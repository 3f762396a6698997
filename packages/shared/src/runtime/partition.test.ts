import { describe, expect, test } from "vitest";
import type { LogTime, Offset } from "../core/brand.ts";
import type { LogEntry } from "../ports/index.ts";
import { readStretch, type Stretch } from "./partition.ts";

const offsets = [0, 1, 2, 5, 6, 9, 10];
const entries = offsets.map((offset): LogEntry => ({ partition: 3, offset: offset as Offset, time: 0 as LogTime, key: "s", value: String(offset) }));

/** Offsets without a record, and pieces that are smaller than what was asked for. */
function sparse(most: number) {
  const asked: number[] = [];
  const read = async (_partition: number, from: Offset, limit: number): Promise<readonly LogEntry[]> => {
    asked.push(from);
    return entries.filter(({ offset }) => offset >= from).slice(0, Math.min(most, limit));
  };
  return { asked, read };
}
async function offsetsOf(ledger: ReturnType<typeof sparse>, stretch: Omit<Stretch, "partition">): Promise<number[][]> {
  const pieces: number[][] = [];
  for await (const piece of readStretch(ledger, { partition: 3, ...stretch }, 4)) pieces.push(piece.map(({ offset }) => offset));
  return pieces;
}

describe("a partition read through", () => {
  test("goes on after a piece that is smaller than what was asked for", async () => {
    expect(await offsetsOf(sparse(2), { from: 0 as Offset })).toEqual([[0, 1], [2, 5], [6, 9], [10]]);
  });
  test("ends before its end, although the last piece reaches over it", async () => {
    expect(await offsetsOf(sparse(9), { from: 1 as Offset, to: 6 as Offset })).toEqual([[1, 2, 5]]);
  });
  test("is nothing where no offset of it has a record, and asks no more than once", async () => {
    const ledger = sparse(9);
    expect(await offsetsOf(ledger, { from: 3 as Offset, to: 5 as Offset })).toEqual([]);
    expect(ledger.asked).toEqual([3]);
  });
  test("is not asked for where it has no length", async () => {
    const ledger = sparse(9);
    expect(await offsetsOf(ledger, { from: 5 as Offset, to: 5 as Offset })).toEqual([]);
    expect(ledger.asked).toEqual([]);
  });
});
