import { describe, expect, it } from "vitest";
import { KeyIndex } from "./key-index.ts";

/** Notes the keys of a stretch as a reader of it does. */
function read(index: KeyIndex, from: number, keys: readonly string[]): void {
  for (const [at, key] of keys.entries()) index.note(0, key, from + at);
  index.cover(0, { from, to: from + keys.length });
}

describe("where the first record of a key may lie", () => {
  it("is the end of what was read without a gap where the key was not met, else its first record", () => {
    const index = new KeyIndex();
    expect(index.from(0, "a")).toBe(0);
    read(index, 0, ["a", "b", "a"]);
    expect([index.from(0, "a"), index.from(0, "b"), index.from(0, "new")]).toEqual([0, 1, 3]);
    expect(index.from(1, "a")).toBe(0);
  });

  it("is never behind a gap, and behind it once the gap is closed", () => {
    const index = new KeyIndex();
    read(index, 10, ["x", "y"]);
    read(index, 12, ["z"]);
    expect([index.from(0, "x"), index.from(0, "z"), index.from(0, "new")]).toEqual([0, 0, 0]);
    read(index, 0, ["a", "b", "c", "d", "e"]);
    expect([index.from(0, "x"), index.from(0, "new")]).toEqual([5, 5]);
    read(index, 5, ["f", "y", "g", "h", "i"]);
    expect([index.from(0, "y"), index.from(0, "x"), index.from(0, "z"), index.from(0, "new")]).toEqual([6, 10, 12, 13]);
  });

  it("moves to an earlier record that is read later", () => {
    const index = new KeyIndex();
    read(index, 4, ["a"]);
    read(index, 0, ["b", "b", "a", "b"]);
    expect(index.from(0, "a")).toBe(2);
  });
});
