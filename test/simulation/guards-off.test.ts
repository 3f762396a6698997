/**
 * Each guard taken away is found out: a fault run that stays sound without the fence would prove nothing about the fence.
 * The seed that was the first to find it last time is tried first; where it no longer does, the search goes on from the first seed.
 */
import type { Guards } from "@loopledger/shared/core/fencing/guards";
import { expect, test } from "vitest";
import { type Examined, examine } from "./examine.ts";
import { planOf } from "./plan/generate.ts";

interface Expected {
  readonly guard: keyof Guards;
  /** The first seed that has found it. */
  readonly firstSeed: number;
  /** What is broken without it. */
  readonly breaks: RegExp;
}
/** So many seeds are enough to find out. */
const seedsMax = 200;
const guards: readonly Expected[] = [
  { guard: "fence", firstSeed: 3, breaks: /^(F1|F3|F4|S3) / },
  { guard: "dedupe", firstSeed: 1, breaks: /^(A3|D2|D6) / },
  { guard: "cursorCompare", firstSeed: 5, breaks: /^(T1|T3) / },
  { guard: "readBack", firstSeed: 3, breaks: /^(E1|E9) / },
  { guard: "failureFirst", firstSeed: 1, breaks: /^D\d / },
  { guard: "receiptFreshness", firstSeed: 2, breaks: /^C1 / },
  { guard: "batchAtomicity", firstSeed: 1, breaks: /^C1 / },
];

function shows({ breaks }: Expected, { violations }: Examined): boolean {
  return violations.some(({ id, detail }) => breaks.test(`${id} ${detail}`));
}
async function find(expected: Expected): Promise<number | null> {
  const seeds = [expected.firstSeed, ...Array.from({ length: seedsMax }, (_, index) => 1 + index)];
  for (const seed of seeds) if (shows(expected, await examine(planOf(seed), { guards: { [expected.guard]: false } }))) return seed;
  return null;
}

test.each(guards)("without $guard a promise is seen to be broken within 200 seeds", { timeout: 240_000 }, async (expected) => {
  const seed = await find(expected);
  expect(seed).not.toBeNull();
  expect(shows(expected, await examine(planOf(seed ?? 0)))).toBe(false);
});
