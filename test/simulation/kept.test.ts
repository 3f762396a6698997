/**
 * Seeds that have failed, shrunk, kept for ever. The whole plan stands in `seeds.json` beside its seed, so that it stays the same
 * run when the generator learns something new; a member that a plan of that time does not have is to be read as nothing.
 */
import { expect, test } from "vitest";
import { examine } from "./examine.ts";
import type { Plan } from "./plan/plan.ts";
import kept from "./seeds.json" with { type: "json" };

interface Kept {
  readonly name: string;
  readonly seed: number;
  /** What was wrong, and what holds since. */
  readonly reason: string;
  readonly plan: Plan;
}
const seeds = kept as unknown as readonly Kept[];

test.each(seeds)("$name (seed $seed) stays sound", async ({ plan, seed, reason }) => {
  expect(plan.seed).toBe(seed);
  expect(reason.length).toBeGreaterThan(40);
  const { result, violations } = await examine(plan);
  expect({ result, violations }).toEqual({ result: "sound", violations: [] });
});

test("each of them has a name and a plan of its own", () => {
  expect(new Set(seeds.map(({ name }) => name)).size).toBe(seeds.length);
  expect(new Set(seeds.map(({ plan }) => JSON.stringify(plan))).size).toBe(seeds.length);
});
