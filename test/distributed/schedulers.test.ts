/** Five schedulers that are killed in turn: a cause has one accepted dispatch, however many would write it; and at rest nobody comes second. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import { until } from "../support/until.ts";
import { Fleet, patienceMs } from "./fleet.ts";
import { auditOf, miscounted } from "./judging.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });
let fleet: Fleet;
beforeEach(async () => {
  fleet = await Fleet.open(await distributedGrounds("schedulers"));
});
afterEach(() => fleet.close());

test("F15 five schedulers are killed in turn under a hundred sessions: one accepted dispatch a cause, and nothing is left over", async () => {
  // The worker does not schedule: whatever its owner did not write itself is a scheduler's.
  const schedulers = Array.from({ length: 5 }, () => fleet.launch("scheduler"));
  await Promise.all([...schedulers.map((one) => one.ready()), fleet.launchAll(["worker", "checker", "projector"])]);
  let kills = 0;
  for (let round = 0; round < 20; round++) {
    for (let index = 0; index < 5; index++) await fleet.submit(`s-${round}-${index}`, { door: "fenced", iterations: 2, failureFirst: index % 2 === 0 });
    const at = round % schedulers.length;
    await schedulers[at]?.ready();
    schedulers[at]?.kill("SIGKILL");
    await schedulers[at]?.ended;
    schedulers[at] = fleet.launch("scheduler");
    kills++;
  }
  await fleet.allDone();
  expect(kills).toBe(20);
  expect(miscounted(fleet)).toEqual([]);
  const report = await auditOf(fleet);
  expect(report.violations).toEqual([]);
  expect(report.sessions).toBe(100);
});

test("where nobody dies, of three workers and two checkers less than one claim in a hundred comes second", async () => {
  // On a busy machine a lease of two seconds ends by itself: then somebody dies, as far as the others can tell.
  await fleet.launchAll(["worker", "worker", "worker", "checker", "checker", "scheduler", "scheduler"], { LOOPLEDGER_LEASE_MS: "15000" });
  // Everybody has heard of everybody once a round of sessions has gone through without a rival.
  let from = 0;
  for (let round = 0; round === 0 || fleet.watch.rivals(from) > 0; round++) {
    from = fleet.watch.claims.length;
    for (let index = 0; index < 10; index++) await fleet.submit(`first-${round}-${index}`, { iterations: 1, stepMs: 500 });
    await fleet.allDone();
  }
  from = fleet.watch.claims.length;
  for (let index = 0; index < 60; index++) await fleet.submit(`s-${index}`, { iterations: 3, stepMs: 20 });
  await fleet.allDone();
  const claims = fleet.watch.claims.length - from;
  const rivals = fleet.watch.rivals(from);
  process.stdout.write(`turns: ${rivals} of ${claims} claims came second; void in all: ${[...fleet.watch.voids].map(([what, count]) => `${what} ${count}`).join(", ") || "none"}\n`);
  expect(claims).toBeGreaterThanOrEqual(360);
  expect(rivals / claims).toBeLessThan(0.01);
});

test("a fourth worker has its share of the steps five seconds after it is there", async () => {
  // Each session is left to whose turn it is for half a lease: on a busy machine who comes late to its turn is to find it still.
  const patient = { LOOPLEDGER_LEASE_MS: "6000" };
  await fleet.launchAll(["worker", "worker", "worker", "checker", "scheduler"], patient);
  for (let index = 0; index < 200; index++) await fleet.submit(`s-${index}`, { iterations: 20, stepMs: 3_000 });
  await until(() => fleet.watch.steps.length > 150, { what: "steps of three workers", timeoutMs: patienceMs });
  const before = new Set(fleet.watch.claims.map(({ ownerId }) => ownerId));
  const fourth = fleet.launch("worker", patient);
  await fourth.ready();
  const joinedAt = performance.now();
  const builds = () => fleet.watch.steps.filter(({ type, at }) => type === "built" && at > joinedAt + 5_000);
  const dones = await until(() => (builds().length > 200 ? builds() : null), { what: "steps after five seconds", timeoutMs: patienceMs });
  const its = dones.filter(({ ownerId }) => !before.has(ownerId));
  process.stdout.write(`fourth worker: ${its.length} of ${dones.length} steps\n`);
  // A quarter of the sessions is its own, give or take what chance does with two hundred of them.
  expect(its.length / dones.length).toBeGreaterThan(0.15);
});
