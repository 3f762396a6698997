import { afterEach, expect, test } from "vitest";
import type { SessionId } from "../core/brand.ts";
import { boundsOf, goal } from "../core/events/goal.ts";
import { nextDerived } from "../core/session/derive.ts";
import { goalDigest } from "../core/session/rules/submission.ts";
import { rulesKnown } from "../core/session/state.ts";
import { statusOf } from "../core/session/status.ts";
import { createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createSeededIds, createVirtualClock } from "../adapters/memory/index.ts";
import { appendAll, withDerived } from "./appends.ts";
import { Carrier, type Crew, type CycleRunner } from "./carrier.ts";
import { type Engine, makeEngine } from "./engine.ts";
import { Liveness } from "./liveness.ts";
import { Offers } from "./offers.ts";
import { submitGoal } from "./submission.ts";
import { StaleOwner, type Tenure } from "./tenure.ts";

const id = "s" as SessionId;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const asked = goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } });
const ann = { kind: "human", id: "ann" } as const;
type Turning = { readonly engine: Engine; readonly turn: (ms: number) => Promise<void> };

async function begun(): Promise<Turning> {
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
  return { engine, turn: (ms) => clock.advance(ms) };
}
function crewOf(engine: Engine, run: CycleRunner["run"], scheduler: Crew["scheduler"] = null): Crew {
  const runner: CycleRunner = { cycle: "build", role: "worker", run, settle: () => Promise.resolve(), perform: () => Promise.resolve() };
  return { runners: [runner], scheduler, liveness: new Liveness(engine, () => 1_000) };
}
async function carried({ engine, turn }: Turning, run: CycleRunner["run"]): Promise<void> {
  await submitGoal(engine, asked, { actor: ann, id });
  const carrier = new Carrier(engine, crewOf(engine, run));
  let over = false;
  const carrying = carrier.carry(id, { stopping: new AbortController().signal }).finally(() => (over = true));
  for (let turns = 0; !over && turns < 500; turns++) await turn(100);
  await carrying;
}

test.each(["key_conflict", "forbidden", "malformed", "duplicate"] as const)(
  "an owner whose record is refused as %s fails its cycle after three tries, and the breaker ends that: it does not claim for ever", async (reason) => {
    let runs = 0;
    const { engine, turn } = await begun();
    await carried({ engine, turn }, () => {
      runs++;
      return Promise.reject(new StaleOwner(id, reason));
    });
    const state = await engine.folds.open(id);
    expect(statusOf(state)).toMatchObject({ disposition: "handed_off", reason: "deterministic_error", iteration: 3 });
    expect(runs).toBe(9);
    expect(state.epoch).toBe(10);
  },
);

test("what may not be claimed here is scheduled here and left to who may claim it, also where its dispatch was still owed", async () => {
  const { engine, turn } = await begun();
  const scheduler: Crew["scheduler"] = {
    owes: (state) => nextDerived(state) !== null,
    write: async (state) => nextDerived(state) !== null && (await appendAll(engine, id, withDerived(engine, state, []))).some(({ kind }) => kind === "accepted"),
  };
  let runs = 0;
  const crew = crewOf(engine, () => Promise.resolve(void runs++), scheduler);
  const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: 1, claims: () => false } });
  offers.start();
  const data = { goal: asked, digest: goalDigest(asked, { sha256: engine.ids.sha256 }), bounds: boundsOf(asked), rules: rulesKnown };
  await appendAll(engine, id, [engine.author.write(id, { type: "goal_submitted", data, actor: ann })]);
  for (let turns = 0; turns < 20; turns++) await turn(500);
  await offers.stop();
  expect(await engine.folds.open(id)).toMatchObject({ open: { cycle: "build" }, owner: null, epoch: 0 });
  expect(runs).toBe(0);
});

test("a tenure that is lost is dropped whole, though nobody else has claimed: what follows starts from a claim", async () => {
  const { engine, turn } = await begun();
  const seen: Tenure[] = [];
  await carried({ engine, turn }, async (tenure) => {
    seen.push(tenure);
    if (seen.length === 1) throw new StaleOwner(id, "stale_epoch");
    await tenure.append([{ type: "built", data: { summary: "built", revision: "r", usage: {} }, actor: { kind: "maker", id: "m" } }], { follow: true });
  });
  expect(seen.map(({ epoch }) => epoch)).toEqual([1, 2]);
  expect(seen[0]).not.toBe(seen[1]);
  expect(seen[0]?.holds()).toBe(false);
  expect(await engine.folds.open(id)).toMatchObject({ epoch: 2, open: { cycle: "review" } });
});
