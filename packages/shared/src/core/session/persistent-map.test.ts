import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PMap, emptyMap, lookUp, own, put, values } from "./persistent-map.ts";

const keys = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "0", "1", "hasOwnProperty"), fc.integer({ min: 0, max: 40 }).map(String));
const writes = fc.array(fc.tuple(keys, fc.integer()), { maxLength: 400 });
const filled = (list: readonly (readonly [string, number])[]): PMap<number> => list.reduce<PMap<number>>((map, [key, value]) => put(map, key, value), emptyMap);

describe("the persistent map", () => {
  it("holds what a Map holds", () => {
    fc.assert(fc.property(writes, fc.array(keys), (list, others) => {
      const [mine, real] = [filled(list), new Map(list)];
      expect(mine.size).toBe(real.size);
      for (const key of [...real.keys(), ...others]) expect(lookUp(mine, key)).toBe(real.get(key));
      expect(values(mine).sort()).toEqual([...real.values()].sort());
    }));
  });
  it("stays flat: a key more makes a path of small pieces new, and shares everything else", () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, at] as const);
    const before = filled(many);
    const after = put(before, "one more", 0);
    const pieces = (node: unknown): unknown[] => (Array.isArray(node) ? [node, ...node.flatMap(pieces)] : node === null ? [] : [node]);
    const known = new Set(pieces(before.buckets));
    const fresh = pieces(after.buckets).filter((piece) => !known.has(piece));
    expect(fresh.length).toBeLessThanOrEqual(8 + 16);
    expect(lookUp(before, "one more")).toBeUndefined();
    expect(after.size).toBe(20_001);
  });
  it("never changes an older version", () => {
    fc.assert(fc.property(writes, keys, fc.integer(), (list, key, value) => {
      const before = filled(list);
      const text = JSON.stringify(before);
      put(before, key, value);
      expect(JSON.stringify(before)).toBe(text);
    }));
  });
  it("goes through JSON and on", () => {
    fc.assert(fc.property(writes, writes, (list, more) => {
      const back = JSON.parse(JSON.stringify(filled(list))) as PMap<number>;
      const mine = more.reduce<PMap<number>>((map, [key, value]) => put(map, key, value), back);
      for (const [key, value] of new Map([...list, ...more])) expect(lookUp(mine, key)).toBe(value);
    }));
  });
});

describe("a member of a plain record", () => {
  it("is its own or none", () => {
    expect(own({ a: 1 }, "a")).toBe(1);
    expect(own({}, "constructor")).toBeUndefined();
  });
});
