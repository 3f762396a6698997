/** Seeds that nobody has chosen: every promise holds on each of them, and together they show what a simulation has to show. */
import { expect, test } from "vitest";
import { type Examined, examine } from "./examine.ts";
import { planOf } from "./plan/generate.ts";
import { shrink } from "./shrink.ts";

const seeds = Array.from({ length: 60 }, (_, index) => 1 + index);
const runs = new Map<number, Promise<Examined>>();
function run(seed: number): Promise<Examined> {
  const known = runs.get(seed) ?? examine(planOf(seed));
  runs.set(seed, known);
  return known;
}

test.each(seeds)("seed %i is sound", { timeout: 300_000 }, async (seed) => {
  const examined = await run(seed);
  const { result, violations } = examined;
  const shortest = result === "sound" ? [] : (await shrink(planOf(seed), examined)).faults;
  expect({ result, violations, shortest }).toEqual({ result: "sound", violations: [], shortest: [] });
});

/** A run in which nothing happened proves nothing. */
test("every kind of fault happens, and what the faults are there for is seen", { timeout: 300_000 }, async () => {
  const examined: Examined[] = [];
  for (const seed of seeds) examined.push(await run(seed));
  const fired = new Set<string>(examined.flatMap((one) => one.fired));
  const seen = new Set(examined.flatMap((one) => [...one.seen].filter(([, count]) => count > 0).map(([name]) => name)));
  expect(mustFire.filter((kind) => !fired.has(kind))).toEqual([]);
  expect(mustSee.filter((name) => !seen.has(name))).toEqual([]);
});

const mustFire = [
  "call", "check-changes", "clock", "crash", "crash-at", "drop", "duplicate", "forget-leases", "forget-views", "leave", "look", "lose-ack", "lose-lease",
  "no-lease-service", "pause", "pause-at", "slow-ledger", "slow-news", "stale-read", "two-holders", "views-drop", "views-lose-ack", "views-stale",
];
const mustSee = [
  "budget_stop", "contested_claim", "duplicate", "fenced_call", "half_void_batch", "receipt_by_another", "self_reclaim", "settled_did_not_happen", "settled_happened",
  "stale_write", "suppressed_dispatch", "view_rebuilt", "void_then_accepted",
];
