import fc from "fast-check";
import { repairJson } from "@loopledger/shared/core/json";
import { expect, it } from "vitest";
import { jsonDepthMax, readJson } from "./json-text.ts";

/** JSON with strings of all kinds; escaped, every character that can only stand in a string is spelled by its number. */
const spelled = fc.tuple(fc.jsonValue({ stringUnit: "binary" }), fc.boolean()).map(([value, escapes]) => {
  const text = JSON.stringify(value);
  return escapes ? text.replaceAll(/[_\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`) : text;
}).filter((text) => !/__proto__|\\u005f/.test(text));

it("gives what the text says, every character whole, however it is spelled", () => {
  fc.assert(fc.property(spelled, (text) => {
    expect(readJson(text)).toEqual({ ok: true, value: repairJson(JSON.parse(text)) });
  }), { numRuns: 300 });
});

it.each([
  ["half a character as an escape", '{"a":"\\ud800"}', { a: "\ufffd" }], ["a NUL as an escape", '["\\u0000"]', ["\ufffd"]],
  ["half a character as it stands", '{"a":"\ud800b"}', { a: "\ufffdb" }], ["a whole text", '{"a":[1,"é😀"]}', { a: [1, "é😀"] }],
])("%s", (_, text, value) => {
  expect(readJson(text)).toEqual({ ok: true, value });
});

it.each([['{"__proto__":{}}'], ['[{"a":{"__proto__":1}}]'], ['{"\\u005f_proto__":1}']])("refuses a prototype key: %s", (text) => {
  expect(readJson(text)).toEqual({ ok: false, why: "has a key named __proto__" });
});

it("reads as deep as it says, and no deeper", () => {
  const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  expect(readJson(nested(jsonDepthMax)).ok).toBe(true);
  expect(readJson(nested(jsonDepthMax + 1))).toEqual({ ok: false, why: `nested deeper than ${jsonDepthMax} levels` });
  expect(readJson(nested(3), 2).ok).toBe(false);
  expect(readJson("[[]]", 4).ok).toBe(true);
});
