import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoOf } from "./iso.ts";

describe("isoOf", () => {
  it("writes every instant from year 0 to 9999 as the platform's calendar does", () => {
    const first = Date.UTC(2000, 0, 1) - 2000 * 365.2425 * 86_400_000 + 86_400_000;
    fc.assert(fc.property(fc.integer({ min: Math.ceil(first), max: 253_402_300_799_999 }), (ms) => {
      expect(isoOf(ms)).toBe(new Date(ms).toISOString());
    }), { numRuns: 2000 });
  });
  it.each([1_893_456_002_116.4773, 0.5, 999.999])("leaves out parts of a millisecond: %d", (ms) => {
    expect(isoOf(ms)).toBe(new Date(ms).toISOString());
  });
  it.each([0, -1, 1, 951_782_399_999, 951_782_400_000, 951_868_800_000, 4_107_542_400_000, 253_402_300_799_999, -62_135_596_800_000, 1_709_164_800_000])("%d", (ms) => {
    expect(isoOf(ms)).toBe(new Date(ms).toISOString());
  });
});
