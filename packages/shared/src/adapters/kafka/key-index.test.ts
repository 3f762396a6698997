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

  it("is the earlier one of two keys that share their number, whichever of them was met first", () => {
    const numberOf = (key: string): number => {
      const index = new KeyIndex();
      index.note(0, key, 0);
      return index.before(0, 1)[0]?.[0] ?? -1;
    };
    const met = new Map<number, string>();
    let [one, other] = ["", ""];
    for (let i = 0; other === ""; i++) {
      const [key, number] = [`key-${i}`, numberOf(`key-${i}`)];
      if (met.has(number)) [one, other] = [met.get(number) ?? "", key];
      met.set(number, key);
    }
    const index = new KeyIndex();
    index.note(0, one, 5);
    index.note(0, other, 9);
    index.cover(0, { from: 0, to: 10 });
    expect([index.from(0, one), index.from(0, other)]).toEqual([5, 5]);
    index.note(0, other, 2);
    expect([index.from(0, one), index.from(0, other)]).toEqual([2, 2]);
    index.take(0, 10, [[numberOf(one), 7]]);
    expect(index.from(0, one)).toBe(2);
  });
});
