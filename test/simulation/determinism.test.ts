/** The same plan is the same run: every byte of the ledger, every effect, every view. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { planOf } from "./plan/generate.ts";
import type { Plan } from "./plan/plan.ts";
import { simulate } from "./world/simulate.ts";

async function digestOf(plan: Plan): Promise<string> {
  const { entries, effects, writes, fired, seen, virtualMs } = await simulate(plan);
  return createHash("sha256").update(JSON.stringify([entries, effects, writes, fired, seen, virtualMs])).digest("hex");
}

test.each([3, 17, 42, 99])("seed %i gives the same ledger byte for byte", async (seed) => {
  expect(await digestOf(planOf(seed))).toBe(await digestOf(planOf(seed)));
});

test("a plan that was written down and read again is the same run", async () => {
  const plan = planOf(5);
  expect(await digestOf(JSON.parse(JSON.stringify(plan)) as Plan)).toBe(await digestOf(plan));
});

test("another seed is another run", async () => {
  expect(await digestOf(planOf(6))).not.toBe(await digestOf(planOf(7)));
});
