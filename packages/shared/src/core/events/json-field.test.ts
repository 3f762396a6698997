import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { jsonField } from "./json-field.ts";

const field = jsonField();
const whole = z.json();
/** JSON, and what only looks like it. */
const anything = fc.anything({
  maxDepth: 4, withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withObjectString: true, withSparseArray: true, withTypedArray: true, withBoxedValues: true,
});
const odd = [
  undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, 1n, Symbol("s"), () => 1, new Date(0), new Map(), [undefined], new Array(2), { a: undefined }, { [Symbol("s")]: 1 },
  Object.create(null), new (class Named { a = 1; })(), JSON.parse('{"__proto__":{"a":1},"b":2}'), { toJSON: () => 1 }, Object.defineProperty({}, "hidden", { value: () => 1 }),
];

function compare(value: unknown): void {
  for (const wrap of [(inner: z.ZodType) => inner, (inner: z.ZodType) => z.strictObject({ a: inner, b: inner.optional() })]) {
    for (const given of [value, { a: value }, { b: value }, { a: 1, b: value }]) {
      const [one, other] = [wrap(field).safeParse(given), wrap(whole).safeParse(given)];
      expect(one.success).toBe(other.success);
      expect(one.data).toEqual(other.data);
      expect(one.error?.issues).toEqual(other.error?.issues);
    }
  }
}

describe("a field of any JSON", () => {
  it("takes and refuses what z.json() does, with the same words", () => {
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), anything), compare), { numRuns: 400 });
  });
  it.each(odd.map((value, at) => [at, value] as const))("odd value %i", (_at, value) => {
    compare(value);
    compare({ inside: [value] });
  });
  it("takes what nests deep, or in itself, as z.json() does", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 300; level++) deep = [deep];
    const circle: unknown[] = [];
    circle.push(circle);
    expect([field.safeParse(deep).success, field.safeParse(circle).success]).toEqual([whole.safeParse(deep).success, whole.safeParse(circle).success]);
  });
  it("reads the same as a JSON Schema", () => {
    const shown = (inner: z.ZodType): unknown => z.toJSONSchema(z.strictObject({ a: inner, b: z.array(inner).optional() }), { target: "draft-7", io: "input" });
    expect(shown(field)).toEqual(shown(whole));
    expect(z.toJSONSchema(field)).toEqual(z.toJSONSchema(whole));
  });
});
