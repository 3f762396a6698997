/** A failing plan is made short: of forty faults, those few are left without which it does not fail. */
import { expect, test } from "vitest";
import { brokenRows, examine } from "./examine.ts";
import { crowdedPlanOf } from "./plan/generate.ts";
import { shrink } from "./shrink.ts";

/** A plan of forty faults, and a bug planted in the target: a look does not fence it. */
const plan = crowdedPlanOf(256, 40);
const planted = { forgetsLooks: true } as const;

test("forty faults over a planted bug shrink to three or fewer, which still show it", { timeout: 120_000 }, async () => {
  const failed = await examine(plan, planted);
  expect(failed.result).toBe("broken");
  const shortest = await shrink(plan, failed, planted);
  expect(plan.faults).toHaveLength(40);
  expect(shortest.faults.length).toBeLessThanOrEqual(3);
  expect(shortest.faults.length).toBeGreaterThan(0);
  const again = await examine(shortest, planted);
  expect(again.result).toBe("broken");
  expect([...brokenRows(again)].some((row) => brokenRows(failed).has(row))).toBe(true);
  expect((await examine({ ...shortest, faults: [] }, planted)).result).toBe("sound");
});

test("without the planted bug the same plan is sound", async () => {
  expect((await examine(plan)).result).toBe("sound");
});
