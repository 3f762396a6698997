import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../testing/index.ts";
import { canonicalJson, cutText, digestOf, isWholeText, repairJson, repairText, sameJson, cutWithMark, tailText } from "./json.ts";

const anyText = fc.string({ unit: "binary" });
/** Text with halves of characters in it. */
const torn = fc.array(fc.oneof(fc.string({ unit: "grapheme", maxLength: 3 }), fc.constantFrom("\ud83d", "\ude00", "\u0000", "😀")), { maxLength: 30 }).map((parts) => parts.join(""));
const whole = fc.array(fc.constantFrom("a", "é", "😀", "𐍈", "漢"), { maxLength: 40 }).map((parts) => parts.join(""));

describe("canonical JSON (RFC 8785)", () => {
  it.each([
    ["numbers as ECMAScript writes them", '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}', '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}'],
    ["control characters and what needs no escape", '{"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"}', '{"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'],
    ["literals", '{"literals":[null,true,false]}', '{"literals":[null,true,false]}'],
    ["keys by UTF-16 units, not by code points", '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew","1":"One","\\ud83d\\ude00":"Emoji","\\u0080":"Control","\\u00f6":"Latin"}',
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin","€":"Euro Sign","😀":"Emoji","\ufb33":"Hebrew"}'],
    ["minus zero", "[-0,0]", "[0,0]"],
    ["nested empties", ' { "b" : { } , "a" : [ ] } ', '{"a":[],"b":{}}'],
    ["numbers at the edges", "[9007199254740992,5e-324,1.7976931348623157e308,1e21,1e-7,100000000000000000000]", "[9007199254740992,5e-324,1.7976931348623157e+308,1e+21,1e-7,100000000000000000000]"],
  ])("%s", (_name, text, canonical) => {
    expect(canonicalJson(JSON.parse(text))).toBe(canonical);
  });
  it("reads back as the same value, and is the same for any order of keys", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(canonicalJson(reversed(value))).toBe(text);
    }));
  });
  it("leaves undefined members out", () => {
    expect(canonicalJson({ b: undefined, a: 1, c: [undefined] })).toBe('{"a":1,"c":[null]}');
  });
  it("compares as the canonical texts do", () => {
    const pairs = fc.oneof(fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 })), fc.jsonValue().map((value) => [value, reversed(value)] as const));
    fc.assert(fc.property(pairs, ([one, other]) => {
      expect(sameJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
    }), { numRuns: 500 });
    fc.assert(fc.property(fc.jsonValue(), fc.constantFrom("x", 1, null, [], {}), (value, more) => {
      const [one, other] = [{ value, more }, { more: structuredClone(more), value: JSON.parse(JSON.stringify(value)) as unknown }];
      expect(sameJson(one, other)).toBe(true);
      expect(sameJson(one, { ...other, further: 0 })).toBe(false);
      expect(sameJson({ ...one, further: 0 }, other)).toBe(false);
    }));
    expect([sameJson({ a: 1, b: undefined }, { a: 1 }), sameJson({ a: 1 }, { c: undefined, a: 1 }), sameJson([], {}), sameJson([1], [1, 2]), sameJson(null, {}), sameJson({ toString: 1 }, { a: 1 })])
      .toEqual([true, true, false, false, false, false]);
  });
  it("makes the digest", () => {
    expect(digestOf({ b: 1, a: [] }, sha256)).toBe(`sha256:${sha256('{"a":[],"b":1}')}`);
    expect(digestOf({}, sha256)).toBe("sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });
});

function reversed(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]));
}

describe("text", () => {
  it("is repaired to what any strict reader takes, and is left alone where it is whole", () => {
    fc.assert(fc.property(fc.oneof(torn, anyText), (text) => {
      const repaired = repairText(text);
      expect(isWholeText(repaired)).toBe(true);
      expect(repaired).toHaveLength(text.length);
      if (isWholeText(text)) expect(repaired).toBe(text);
    }));
  });
  it("is repaired inside values, keys included", () => {
    expect(repairJson({ "a\ud800": ["\udc00", { b: "x\u0000" }], n: 1, z: null })).toEqual({ "a\ufffd": ["\ufffd", { b: "x\ufffd" }], n: 1, z: null });
    expect(Object.keys(repairJson(JSON.parse('{"__proto__":"\\ud800"}')) as object)).toEqual(["__proto__"]);
  });
  it("is cut at whole characters, at the front as at the end, and never longer than asked", () => {
    fc.assert(fc.property(whole, fc.integer({ min: 0, max: 90 }), (text, max) => {
      for (const cut of [cutText(text, max), tailText(text, max)]) {
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, max) - 1);
        expect(cut.isWellFormed()).toBe(true);
      }
      expect(text.startsWith(cutText(text, max))).toBe(true);
      expect(text.endsWith(tailText(text, max))).toBe(true);
    }));
  });
  it.each([200, 1000, 2000, 10_000, 65_536])("a cut at %d lands beside a pair, not inside it", (max) => {
    for (const text of ["😀".repeat(max), `a${"😀".repeat(max)}`]) {
      expect(cutText(text, max).isWellFormed()).toBe(true);
      expect(tailText(text, max).isWellFormed()).toBe(true);
    }
  });
});

it("a text that is cut with a mark is as long as it may be, mark included, and of whole characters", () => {
  expect([cutWithMark("abcde", 5), cutWithMark("abcdef", 5), cutWithMark("abcdef", 5, "...")]).toEqual(["abcde", "abcd…", "ab..."]);
  expect(cutWithMark("ab😀cd", 4)).toBe("ab…");
});
