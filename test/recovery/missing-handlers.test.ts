/** Several processes on one ledger, not all with the same handlers: who cannot run a session leaves it to others, after an owner's death too. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningCrew, buildCrew } from "@loopledger/composition/crew/crew";
import { servedBy } from "@loopledger/composition/project/known-handlers";
import { reviewRunner } from "@loopledger/checker/checker";
import { makeScheduler } from "@loopledger/scheduler/scheduler";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { buildRunner } from "@loopledger/worker/worker";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { Target } from "../support/worlds/target.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const id = "s" as SessionId;
const never = new Promise<never>(() => undefined);
let folder: string;
let target: Target;
let world: World;
let others: RunningCrew[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-handlers-"));
  target = new Target(folder);
  world = memoryWorld();
  others = [];
});
afterEach(async () => {
  for (const crew of others) await world.drive(crew.stop());
  await world.close();
  target.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A serving process whose config has no handler of the goal, or another one. */
async function withoutHandlers(makers: object = {}): Promise<void> {
  const { engine } = await world.join({ handlers: {}, roles: [] });
  const crew = await world.drive(buildCrew(engine, {
    roles: { worker: buildRunner, checker: reviewRunner, scheduler: makeScheduler }, stepLimitMs: () => 600_000,
    serves: servedBy({ handlers: { makers, checks: {}, tools: {} } } as never),
  }));
  crew.start();
  others.push(crew);
}
const status = async () => statusOf(await stateOf(world, id));
async function dead(): Promise<void> {
  const owner = await world.join({ handlers: deploying({ target, maker: () => never }) });
  owner.work();
  await submit(owner, id);
  await world.until(async () => (await status()).active === "build", "the maker");
  let waited = 0;
  await world.until(() => ++waited > 1_000, "a long silence of the maker");
  owner.process.kill();
}

test("after an owner's death the process that has the handlers goes on, also where it comes a little later", async () => {
  await withoutHandlers();
  await dead();
  let waited = 0;
  await world.until(() => ++waited * 10 > world.leaseMs * 0.8, "most of a lease");
  expect(await status()).toMatchObject({ disposition: "running", takeovers: 0 });
  const next = await world.join({ handlers: deploying({ target }) });
  next.work();
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", takeovers: 1 });
});

test("where nobody has them it is set aside, so that what is missing is told", async () => {
  await withoutHandlers();
  await dead();
  await world.until(async () => (await status()).disposition === "waiting", "the session to be set aside");
  expect(await status()).toMatchObject({ reason: "handler_missing", error: expect.stringContaining("maker") });
});

test.each([
  ["a tool that a person is to be asked about", { approvals: [{ before: "deploi" }] }, "tool deploi, before which the policy asks a person, is not registered"],
  ["a gate", { gates: ["safe"] }, "the policy names the gate safe, and no gates are run here"],
])("without %s nothing is made: the session waits for it, whoever took it", async (_, policy, error) => {
  const begun: string[] = [];
  const owner = await world.join({ handlers: deploying({ target, started: (what) => begun.push(what) }) });
  owner.work();
  await submit(owner, id, { policy: { failureFirst: false, ...policy } });
  await world.until(async () => (await status()).disposition === "waiting", "the session to be set aside");
  expect(await status()).toMatchObject({ reason: "handler_missing", error });
  expect([begun, target.rows()]).toEqual([[], []]);
});

test("while its owner lives it is left alone, however long nothing is written", async () => {
  await withoutHandlers();
  const goOn = Promise.withResolvers<void>();
  const owner = await world.join({ handlers: deploying({ target, maker: () => goOn.promise.then(() => ({ summary: "made" })) }) });
  owner.work();
  await submit(owner, id);
  await world.until(async () => (await status()).active === "build", "the maker");
  let waited = 0;
  await world.until(() => ++waited * 10 > world.leaseMs * 5, "five leases");
  expect(await status()).toMatchObject({ disposition: "running", epoch: 1, takeovers: 0 });
  goOn.resolve();
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", takeovers: 0 });
});

test("of several that do not have them one sets it aside, after a lease and not before", async () => {
  for (const makers of [{}, {}, { other: {} }]) await withoutHandlers(makers);
  const asking = await world.join({ handlers: {}, roles: ["scheduler"] });
  await submit(asking, id);
  let waited = 0;
  await world.until(() => ++waited * 10 > world.leaseMs * 0.8, "most of a lease");
  expect(await status()).toMatchObject({ disposition: "running", epoch: 0 });
  await world.until(async () => (await status()).disposition === "waiting", "the session to be set aside");
  expect(await status()).toMatchObject({ reason: "handler_missing", epoch: 1 });
});
