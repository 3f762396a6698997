import { afterEach, expect, test } from "vitest";
import type { SessionId } from "../core/brand.ts";
import { goal } from "../core/events/goal.ts";
import { statusOf } from "../core/session/status.ts";
import { createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createSeededIds, createVirtualClock } from "../adapters/memory/index.ts";
import { Carrier, type CycleRunner } from "./carrier.ts";
import { type Engine, makeEngine } from "./engine.ts";
import { Liveness } from "./liveness.ts";
import { submitGoal } from "./submission.ts";
import { StaleOwner } from "./tenure.ts";

const id = "s" as SessionId;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function carried(run: CycleRunner["run"]): Promise<Engine> {
  const clock = createVirtualClock();
  const ids = createSeededIds(1);
  const process = createMemoryProcess(clock);
  const engine = makeEngine(
    {
      ledger: createMemoryLedger({ clock, ids }).handle({ process }), ownership: createMemoryOwnership({ clock }).handle({ process }), blobs: createMemoryBlobs(),
      clock, ids, host: createMemoryHosts().on("host", process), handlers: { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] },
    },
    { leaseMs: 1_000, silenceMs: 1_000 },
  );
  closing.push(() => engine.folds.close());
  await engine.folds.start(await engine.ledger.end());
  await submitGoal(engine, goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } }), { actor: { kind: "human", id: "ann" }, id });
  const runner: CycleRunner = { cycle: "build", role: "worker", run, settle: () => Promise.resolve(), perform: () => Promise.resolve() };
  const carrier = new Carrier(engine, { runners: [runner], scheduler: null, liveness: new Liveness(engine, () => 1_000) });
  let over = false;
  const carrying = carrier.carry(id, { stopping: new AbortController().signal }).finally(() => (over = true));
  for (let turns = 0; !over && turns < 500; turns++) await clock.advance(100);
  await carrying;
  return engine;
}

test.each(["key_conflict", "forbidden", "malformed", "duplicate"] as const)(
  "an owner whose record is refused as %s fails its cycle after three tries, and the breaker ends that: it does not claim for ever", async (reason) => {
    let runs = 0;
    const engine = await carried(() => {
      runs++;
      return Promise.reject(new StaleOwner(id, reason));
    });
    const state = await engine.folds.open(id);
    expect(statusOf(state)).toMatchObject({ disposition: "handed_off", reason: "deterministic_error", iteration: 3 });
    expect(runs).toBe(9);
    expect(state.epoch).toBe(10);
  },
);
