/** A failing plan is made short: of forty faults, those few are left without which it does not fail. */
import { expect, test } from "vitest";
import { brokenRows, examine } from "./examine.ts";
import { crowdedPlanOf } from "./plan/generate.ts";
import type { Plan } from "./plan/plan.ts";
import { shrink } from "./shrink.ts";

/** A bug planted in the target: a look does not fence it. */
const planted = { forgetsLooks: true } as const;
/** The seed whose forty faults showed it with few of them last time is tried first. */
const firstSeed = 32;
/** What shows a bug only by chance may need more faults than the bug itself: so many plans are tried. */
const failuresMax = 10;

/** A plan of forty faults that shows the planted bug, and the three or fewer of them that are enough. */
async function findShort(): Promise<{ readonly plan: Plan; readonly shortest: Plan } | null> {
  let failures = 0;
  for (const seed of [firstSeed, ...Array.from({ length: 400 }, (_, index) => 1 + index)]) {
    const plan = crowdedPlanOf(seed, 40);
    const failed = await examine(plan, planted);
    if (failed.result !== "broken") continue;
    const shortest = await shrink(plan, failed, planted);
    if (shortest.faults.length <= 3) return { plan, shortest };
    if (++failures === failuresMax) return null;
  }
  return null;
}

test("forty faults over a planted bug shrink to three or fewer, which still show it", { timeout: 240_000 }, async () => {
  const found = await findShort();
  expect(found).not.toBeNull();
  if (!found) return;
  const { plan, shortest } = found;
  expect(plan.faults).toHaveLength(40);
  expect((await examine(plan)).result).toBe("sound");
  expect(shortest.faults.length).toBeGreaterThan(0);
  expect(shortest.faults.every((fault) => plan.faults.includes(fault))).toBe(true);
  const [again, before] = [await examine(shortest, planted), await examine(plan, planted)];
  expect([...brokenRows(again)].some((row) => brokenRows(before).has(row))).toBe(true);
  expect((await examine({ ...shortest, faults: [] }, planted)).result).toBe("sound");
});
