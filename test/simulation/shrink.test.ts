/** A failing plan is made short: of forty faults, those few are left without which it does not fail. */
import { expect, test } from "vitest";
import { brokenRows, examine } from "./examine.ts";
import { crowdedPlanOf } from "./plan/generate.ts";
import type { Plan } from "./plan/plan.ts";
import { shrink } from "./shrink.ts";

/** A bug planted in the target: a look does not fence it. */
const planted = { forgetsLooks: true } as const;
/** The seed whose forty faults showed it last time is tried first. */
const firstSeed = 24;

async function findPlan(): Promise<Plan | null> {
  for (const seed of [firstSeed, ...Array.from({ length: 400 }, (_, index) => 1 + index)]) {
    const plan = crowdedPlanOf(seed, 40);
    if ((await examine(plan, planted)).result === "broken") return plan;
  }
  return null;
}

test("forty faults over a planted bug shrink to three or fewer, which still show it", { timeout: 240_000 }, async () => {
  const plan = (await findPlan()) as Plan;
  expect(plan).not.toBeNull();
  expect((await examine(plan)).result).toBe("sound");
  const failed = await examine(plan, planted);
  const shortest = await shrink(plan, failed, planted);
  expect(plan.faults).toHaveLength(40);
  expect(shortest.faults.length).toBeLessThanOrEqual(3);
  expect(shortest.faults.length).toBeGreaterThan(0);
  const again = await examine(shortest, planted);
  expect(again.result).toBe("broken");
  expect([...brokenRows(again)].some((row) => brokenRows(failed).has(row))).toBe(true);
  expect((await examine({ ...shortest, faults: [] }, planted)).result).toBe("sound");
});
