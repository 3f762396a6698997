import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprintOf, normalised } from "./fingerprint.ts";

const digits = (min: number, max: number) => fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: min, maxLength: max });
/** A figure as programs print it: any number of digits before and behind the point. */
const figure = fc.tuple(digits(1, 9), fc.option(digits(1, 18))).map(([whole, part]) => (part === null ? whole : `${whole}.${part}`));
const unit = fc.constantFrom("", "ms", " ms", "s", " s", " seconds", "µs", "m");
const tap = (name: string, [one, two, three]: readonly string[]): string =>
  `not ok 1 - ${name}\n  ---\n  duration_ms: ${one}\n  error: 'it is wrong'\n  ...\n1..1\n# fail 1\n# duration_ms ${two}\n✖ ${name} (${three})\n`;

test("any figures and durations give the same fingerprint, whatever their digits", () => {
  const told = fc.tuple(figure, figure, fc.tuple(figure, unit).map((parts) => parts.join("")));
  const first = fingerprintOf("check_exit_1", tap("adds", ["1.726994", "94.617378", "1.726994ms"]));
  fc.assert(fc.property(told, (figures) => {
    expect(fingerprintOf("check_exit_1", tap("adds", figures))).toBe(first);
  }));
});

test("other tests that fail are another fault, whatever the figures", () => {
  const name = fc.stringMatching(/^[a-z]{3,10}( [a-z]{3,10}){0,2}$/).filter((one) => !/\b[a-f]{6,}\b/.test(one));
  const figures = fc.tuple(figure, figure, figure);
  fc.assert(fc.property(name, name, figures, (one, other, told) => {
    fc.pre(one !== other);
    expect(fingerprintOf("check_exit_1", tap(one, told))).not.toBe(fingerprintOf("check_exit_1", tap(other, told)));
  }));
});

test("an id of hexadecimal digits gives the same fingerprint, be it of digits only or not", () => {
  const id = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 7, maxLength: 40 }).filter((one) => /\d/.test(one));
  fc.assert(fc.property(id, (one) => {
    expect(normalised(`commit ${one} is bad`)).toBe(normalised("commit 3fa9c2b is bad"));
  }));
});

test.each([
  ["a decimal of few digits and one of many", "took 1.68427 ms", "took 1.726994 ms"],
  ["whole and broken figures", "took 2ms", "took 1.726994ms"],
  ["an exponent", "off by 2.5", "off by 1.23456789e-7"],
  ["a large exponent", "off by 2.5", "off by 1.2345678e21"],
  ["minutes and seconds", "took 59s", "took 1m 2.5s"],
  ["times of day", "at 10:00:00.123", "at 9:59:59,123456789"],
  ["thousands", "of 1,234,567 rows", "of 12 rows"],
  ["addresses", "at 0x7ffeefbff5c8", "at 0x10000000"],
  ["uuids", "session 0d4f3c52-7d3c-4b4e-9d57-3a3f0f1f2a11", "session 12345678-1234-1234-1234-123456789012"],
  ["temporary paths", "open /tmp/a1/file: no", "open /var/folders/xy/T/file: no"],
])("%s are the same", (_, one, other) => {
  expect(fingerprintOf("c", one)).toBe(fingerprintOf("c", other));
});
