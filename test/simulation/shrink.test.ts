/** A failing plan is made short: of forty faults, those few are left without which it does not fail. */
import { expect, test } from "vitest";
import { brokenRows, examine } from "./examine.ts";
import { crowdedPlanOf } from "./plan/generate.ts";
import type { Plan } from "./plan/plan.ts";
import { shrink } from "./shrink.ts";

/** A target that forgets its keys: a call that is repeated because its answer was lost is applied twice. */
const planted = { bug: "keys are forgotten" } as const;

/** The first plan of forty faults that shows the bug and is sound without it. */
async function findPlan(): Promise<Plan> {
  for (let seed = 1; seed <= 200; seed++) {
    const plan = crowdedPlanOf(seed, 40);
    const [shown, without] = [await examine(plan, planted), await examine(plan)];
    if (shown.result === "broken" && without.result === "sound") return plan;
  }
  throw new Error("no plan of 200 shows the planted bug");
}

test("forty faults over a planted bug shrink to three or fewer, which still show it", { timeout: 300_000 }, async () => {
  const plan = await findPlan();
  const failed = await examine(plan, planted);
  const shortest = await shrink(plan, failed, planted);
  expect(plan.faults).toHaveLength(40);
  expect(shortest.faults.length).toBeLessThanOrEqual(3);
  expect(shortest.faults.length).toBeGreaterThan(0);
  expect(shortest.faults.every((fault) => plan.faults.includes(fault))).toBe(true);
  const again = await examine(shortest, planted);
  expect([...brokenRows(again)].some((row) => brokenRows(failed).has(row))).toBe(true);
  expect((await examine({ ...shortest, faults: [] }, planted)).result).toBe("sound");
});
