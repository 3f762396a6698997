/** Every interleaving of small configurations, over the real fold and the real decisions. The long form is `npm run explore`. */
import { expect, test } from "vitest";
import { configurations } from "./configurations.ts";
import { pairs } from "./pairs.ts";
import { search } from "./search/search.ts";

/** Enough for what the small ones come to, with room for a fold that grows. */
const wholeMax = 100_000;
/** The beginnings of the others: every way of some twelve steps. */
const beginningMax = 1_000;
const small = configurations.filter(({ isSmall }) => isSmall);
const large = configurations.filter(({ isSmall }) => !isSmall);
const sound = { breach: null, trace: [] };

test.each(small)("$name: every world keeps the promises, and an end stays in reach of each", { timeout: 300_000 }, (configuration) => {
  const found = search(configuration, { worldsMax: wholeMax });
  expect(found).toMatchObject({ ...sound, isComplete: true });
  expect(found.overs).toBeGreaterThan(0);
});

test.each(large)("$name: the nearest worlds keep the promises", { timeout: 300_000 }, (configuration) => {
  expect(search(configuration, { worldsMax: beginningMax })).toMatchObject(sound);
});

test.each(pairs.filter((_, at) => at % 61 === 0))("two faults together, $name: the nearest worlds keep the promises", { timeout: 300_000 }, (configuration) => {
  expect(search(configuration, { worldsMax: beginningMax })).toMatchObject(sound);
});

test("a configuration has a name of its own", () => {
  const names = [...configurations, ...pairs].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
