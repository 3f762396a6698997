import { describe, expect, it } from "vitest";
import { judge, remainingIn } from "./breaker.ts";

const run = (failures: string[], rule: { same: number | null; improving?: boolean } = { same: 3 }): boolean =>
  failures.reduce<{ window: readonly string[]; trips: boolean }>((before, one) => judge(before.window, one, { improving: false, ...rule }), { window: [], trips: false }).trips;

describe("the breaker", () => {
  it.each([
    ["three equal", ["a", "a", "a"], true],
    ["two equal", ["a", "a"], false],
    ["three equal after others", ["x", "y", "a", "a", "a"], true],
    ["A, B, A, B", ["a", "b", "a", "b"], true],
    ["A, B, A", ["a", "b", "a"], false],
    ["A, B, C, A, B", ["a", "b", "c", "a", "b"], false],
    ["A, A, B, A, A", ["a", "a", "b", "a", "a"], false],
  ])("%s: %s", (_name, failures, trips) => {
    expect(run(failures)).toBe(trips);
  });
  it("takes another number of equal ones, also beyond its usual window", () => {
    expect(run(["a", "a"], { same: 2 })).toBe(true);
    expect(run(Array<string>(11).fill("a"), { same: 12 })).toBe(false);
    expect(run(Array<string>(12).fill("a"), { same: 12 })).toBe(true);
  });
  it("never trips while it is off", () => {
    expect(run(["a", "a", "a", "a", "b", "a", "b"], { same: null })).toBe(false);
  });
  it("starts again when something improves", () => {
    expect(judge(["a", "a"], "a", { same: 3, improving: true })).toEqual({ window: ["a"], trips: false });
  });
});

describe("what remains", () => {
  it.each([[{ remaining: 3 }, 3], [{ remaining: 0 }, 0], [{ remaining: "3" }, null], [{}, null], [null, null], [[3], null], ["remaining", null]])("%j: %j", (evidence, remaining) => {
    expect(remainingIn(evidence as never)).toBe(remaining);
  });
});
