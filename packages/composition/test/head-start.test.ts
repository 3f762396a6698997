import { expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createSeededIds, createVirtualClock } from "@loopledger/shared/memory";
import { type CycleRunner, makeEngine, restoreFolds, submitGoal } from "@loopledger/shared/runtime";
import { startServices } from "@loopledger/composition/crew/services";

const id = "s" as SessionId;
const asked = goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } });

/** A process on a ledger that holds a session, whose step lasts until the process stops; what its gateway finds when it is loaded. */
async function started(claims: boolean): Promise<{ readonly found: number | undefined; readonly timeMs: number }> {
  const clock = createVirtualClock();
  const ids = createSeededIds(1);
  const process = createMemoryProcess(clock);
  const ledger = createMemoryLedger({ clock, ids }).handle({ process });
  const handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
  const engine = makeEngine(
    { ledger, ownership: createMemoryOwnership({ clock }).handle({ process }), blobs: createMemoryBlobs(), clock, ids, host: createMemoryHosts().on("host", process), handlers },
    { leaseMs: 1_000, silenceMs: 1_000 },
  );
  const startedAt = await ledger.end();
  await engine.folds.start(startedAt);
  let goesOn = true;
  const goOn = async (): Promise<void> => {
    while (goesOn) await clock.advance(1);
  };
  const going = goOn();
  await submitGoal(engine, asked, { actor: { kind: "human", id: "ann" }, id });
  await engine.folds.close();
  engine.folds.forget(id);
  await restoreFolds(engine);
  const atMs = clock.now();
  const runner: CycleRunner = {
    cycle: "build", role: "worker", settle: () => Promise.resolve(), perform: () => Promise.resolve(),
    run: (_, stopping) => new Promise((resolve) => { stopping.addEventListener("abort", () => resolve()); }),
  };
  let found: number | undefined;
  let timeMs = 0;
  const services = await startServices({ engine, ledger, views: null, appends: null, startedAt, close: () => engine.folds.close() }, {
    roles: {
      worker: () => runner,
      gateway: () => {
        found = engine.folds.peek(id)?.epoch;
        timeMs = clock.now() - atMs;
        return Promise.resolve({ port: 1, stop: () => Promise.resolve() });
      },
    },
    stepLimitMs: () => 1_000, serves: { claims: () => claims }, host: "127.0.0.1", port: 0, principal: "ann",
  });
  await services.stop();
  goesOn = false;
  await going;
  return { found, timeMs };
}

test("what is owed is claimed before the gateway is loaded", async () => {
  expect((await started(true)).found).toBe(1);
});

test("where there is nothing to claim, the gateway waits for a moment only", async () => {
  const { found, timeMs } = await started(false);
  expect(found).toBe(0);
  expect(timeMs).toBeGreaterThan(0);
});
