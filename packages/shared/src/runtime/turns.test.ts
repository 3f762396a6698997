/** Several processes of one kind: whose turn a session is, and what becomes of it when that one is not there or another one joins. */
import { afterEach, expect, it } from "vitest";
import type { SessionId } from "../core/brand.ts";
import { boundsOf, goal } from "../core/events/goal.ts";
import type { HandlerNames } from "../core/session/handlers-named.ts";
import { goalDigest } from "../core/session/rules/submission.ts";
import { rulesKnown } from "../core/session/state.ts";
import { createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createSeededIds, createVirtualClock, type MemoryProcess } from "../adapters/memory/index.ts";
import { appendAll, withDerived } from "./appends.ts";
import { Carrier, type CycleRunner } from "./carrier.ts";
import type { Change } from "./change.ts";
import { type Engine, makeEngine } from "./engine.ts";
import { Liveness } from "./liveness.ts";
import { Offers } from "./offers.ts";

const leaseMs = 1_000;
const stepMs = 200;
const asked = goal.parse({ goal: "g", maker: "m", check: "c", policy: { failureFirst: false } });
const ann = { kind: "human", id: "ann" } as const;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Joining { readonly cycles?: number; readonly takesMs?: number; readonly handlers?: HandlerNames | null; readonly isDeaf?: boolean }
interface Peer {
  readonly engine: Engine;
  readonly process: MemoryProcess;
  readonly ran: string[];
  /** How often it has looked whether it may go on with a session. */
  readonly looks: () => number;
  readonly stop: () => Promise<void>;
}

function world() {
  const clock = createVirtualClock();
  const ids = createSeededIds(1);
  const ledger = createMemoryLedger({ clock, ids });
  const ownership = createMemoryOwnership({ clock });
  const hosts = createMemoryHosts();
  let hostsMade = 0;
  /** One process of its own host that works; `cycles` of a session before it says that it is built, each of which takes its time. */
  const join = async ({ cycles = 1, takesMs = stepMs, handlers = null, isDeaf = false }: Joining = {}): Promise<Peer> => {
    const process = createMemoryProcess(clock);
    const engine = makeEngine(
      {
        ledger: ledger.handle({ process }), ownership: ownership.handle({ process, faults: { unreachable: isDeaf ? 1 : 0 } }), blobs: createMemoryBlobs(), clock: process.clock, ids,
        host: hosts.on(`host-${++hostsMade}`, process), handlers: { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] },
      },
      { leaseMs, silenceMs: 60_000 },
    );
    await engine.folds.start(new Map(Array.from({ length: engine.ledger.partitions }, (_, partition) => [partition, 0 as never])));
    const liveness = new Liveness(engine, () => 60_000);
    await liveness.start();
    const ran: string[] = [];
    const runner: CycleRunner = { cycle: "build", role: "worker", run: stepsOf(engine, ran, { cycles, takesMs }), settle: () => Promise.resolve(), perform: () => Promise.resolve() };
    const crew = { runners: [runner], scheduler: null, liveness };
    let looks = 0;
    const claims = (): boolean => {
      looks++;
      return handlers === null || handlers.makers.includes("m");
    };
    const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: 100, claims } });
    await liveness.join(["worker"], handlers);
    offers.start();
    closing.push(async () => {
      if (process.state === "killed") return;
      const stopped = offers.stop();
      await clock.advance(5_000);
      await stopped;
      await liveness.stop();
      await engine.folds.close();
    });
    return { engine, process, ran, looks: () => looks, stop: () => offers.stop() };
  };
  return { clock, join, ownership };
}

/** Fails its cycle until it has done enough of them, so that one session has several steps of one owner. */
function stepsOf(engine: Engine, ran: string[], { cycles, takesMs }: { readonly cycles: number; readonly takesMs: number }): CycleRunner["run"] {
  return async (tenure) => {
    const { open } = tenure.state;
    if (!open) return;
    ran.push(tenure.sessionId);
    await new Promise<void>((resolve) => engine.clock.after(takesMs, resolve));
    const actor = { kind: "worker", id: engine.ownerId } as const;
    const { iteration } = open;
    if (iteration < cycles) {
      const data = { dispatch: open.eventId, class: "transient", code: "again", fingerprint: `f${iteration}`, terminal: false, message: "again", usage: {} } as const;
      await tenure.append([{ type: "cycle_failed", data, actor }], { follow: true });
    } else await tenure.append([{ type: "built", data: { summary: "built", revision: "r", usage: {} }, actor: { kind: "maker", id: "m" } }], { follow: true });
  };
}

async function submit({ engine }: Peer, ids: readonly string[]): Promise<void> {
  const data = { goal: asked, digest: goalDigest(asked, { sha256: engine.ids.sha256 }), bounds: boundsOf(asked), rules: rulesKnown };
  for (const id of ids as readonly SessionId[]) {
    await appendAll(engine, id, [engine.author.write(id, { type: "goal_submitted", data, actor: ann })]);
    const state = await engine.folds.open(id);
    await appendAll(engine, id, withDerived(engine, state, []));
  }
}
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s-${index}`);
function claimsSeen({ engine }: Peer): Change[] {
  const seen: Change[] = [];
  engine.folds.listen((change) => change.record?.type === "claimed" && seen.push(change), "test");
  return seen;
}
const rivals = (seen: readonly Change[]): number => seen.filter(({ verdict }) => verdict.kind === "void").length;

it("what nobody holds is claimed by one of them alone, and each takes its share", async () => {
  const { clock, join } = world();
  const peers = [await join(), await join(), await join()];
  await clock.advance(leaseMs);
  const seen = claimsSeen(peers[0] as Peer);
  await submit(peers[0] as Peer, names(60));
  await clock.advance(400);
  expect(peers.flatMap(({ ran }) => ran).sort()).toEqual(names(60).sort());
  for (const { ran } of peers) expect(ran.length).toBeGreaterThan(8);
  expect([seen.length, rivals(seen)]).toEqual([60, 0]);
});

it("what the first does not take is taken by the others a moment later, once", async () => {
  const { clock, join } = world();
  const [here, gone] = [await join(), await join()];
  await clock.advance(leaseMs);
  gone.process.kill();
  const seen = claimsSeen(here);
  await submit(here, names(40));
  await clock.advance(400);
  const atOnce = here.ran.length;
  expect(atOnce).toBeGreaterThan(8);
  expect(atOnce).toBeLessThan(32);
  await clock.advance(400);
  expect(here.ran.sort()).toEqual(names(40).sort());
  expect(rivals(seen)).toBe(0);
});

const having: HandlerNames = { makers: ["m"], checks: ["c"], tools: [], gates: [] };
const without: HandlerNames = { ...having, makers: ["other"] };

it("who can run a session takes it at once, however many are there that cannot", async () => {
  const { clock, join } = world();
  const others = [await join({ handlers: without }), await join({ handlers: without }), await join({ handlers: without })];
  const able = await join({ handlers: having });
  await clock.advance(leaseMs);
  const seen = claimsSeen(able);
  await submit(able, names(40));
  await clock.advance(100);
  expect([seen.length, rivals(seen)]).toEqual([40, 0]);
  await clock.advance(stepMs);
  expect(able.ran.sort()).toEqual(names(40).sort());
  expect(others.flatMap(({ ran }) => ran)).toEqual([]);
});

it("those that can run a session share it among each other, whatever else they can run", async () => {
  const { clock, join } = world();
  await join({ handlers: without });
  const able = [await join({ handlers: having }), await join({ handlers: { ...having, makers: ["m", "other"] } })];
  await clock.advance(leaseMs);
  const seen = claimsSeen(able[0] as Peer);
  await submit(able[0] as Peer, names(40));
  await clock.advance(400);
  expect(able.flatMap(({ ran }) => ran).sort()).toEqual(names(40).sort());
  for (const { ran } of able) expect(ran.length).toBeGreaterThan(8);
  expect([seen.length, rivals(seen)]).toEqual([40, 0]);
});

it("nothing is handed back to who joins and cannot run it", async () => {
  const { clock, join } = world();
  const able = await join({ cycles: 15, handlers: having });
  const seen = claimsSeen(able);
  await submit(able, names(20));
  await clock.advance(stepMs);
  await join({ handlers: without });
  await clock.advance(20 * stepMs);
  expect([seen.length, rivals(seen)]).toEqual([20, 0]);
  for (const id of names(20)) expect((await able.engine.folds.open(id as SessionId)).open?.cycle).toBe("review");
});

it("who joins gets its share of what others hold: they hand it back between two steps, and keep the rest", async () => {
  const { clock, join } = world();
  const first = await join({ cycles: 15 });
  const seen = claimsSeen(first);
  await submit(first, names(40));
  await clock.advance(200);
  expect(seen).toHaveLength(40);
  const second = await join({ cycles: 15 });
  const before = first.ran.length;
  await clock.advance(leaseMs);
  const [firstBefore, secondBefore] = [first.ran.length, second.ran.length];
  await clock.advance(2 * stepMs);
  const share = (second.ran.length - secondBefore) / (second.ran.length - secondBefore + first.ran.length - firstBefore);
  expect(share).toBeGreaterThan(0.25);
  expect(share).toBeLessThan(0.75);
  expect(first.ran.length).toBeGreaterThan(before);
  await clock.advance(5_000);
  expect(rivals(seen)).toBe(0);
  expect(seen.length).toBeLessThan(70);
  for (const id of names(40)) expect((await first.engine.folds.open(id as SessionId)).open?.cycle).toBe("review");
});

it("sessions that wait for a holder cost one look a moment together, and all of them go on when it is dead", async () => {
  const { clock, join } = world();
  const holder = await join({ takesMs: 3_600_000 });
  await submit(holder, names(40));
  await clock.advance(stepMs / 2);
  const other = await join();
  let looks = 0;
  const { look } = other.engine.host;
  Object.assign(other.engine.host, { look: (host: Parameters<typeof look>[0]) => {
    looks++;
    return look(host);
  } });
  await clock.advance(10 * stepMs);
  expect(other.ran).toEqual([]);
  // One look in 50 ms, and one for each record that makes a session be offered: not forty in 50 ms.
  expect(looks).toBeLessThan(1_000);
  holder.process.kill();
  await clock.advance(2 * leaseMs + 2 * stepMs);
  expect(new Set(other.ran)).toEqual(new Set(names(40)));
});

it("at rest nothing is looked at, however long that lasts; a change of one session is one reason to look at that one", async () => {
  const { clock, join } = world();
  const peer = await join();
  await submit(peer, names(20));
  await clock.advance(leaseMs);
  expect(peer.ran.sort()).toEqual(names(20).sort());
  const before = peer.looks();
  await clock.advance(3_600_000);
  expect(peer.looks()).toBe(before);
  await appendAll(peer.engine, "s-3" as SessionId, [peer.engine.author.write("s-3" as SessionId, { type: "guidance", data: { text: "look at the parser" }, actor: ann })]);
  await clock.advance(leaseMs);
  expect(peer.looks() - before).toBeGreaterThan(0);
  expect(peer.looks() - before).toBeLessThan(5);
});

it("two that do not hear of each other both try, and of each session the ledger accepts one", async () => {
  const { clock, join } = world();
  const peers = [await join({ isDeaf: true }), await join({ isDeaf: true })];
  await clock.advance(leaseMs);
  const seen = claimsSeen(peers[0] as Peer);
  await submit(peers[0] as Peer, names(30));
  await clock.advance(400);
  expect(rivals(seen)).toBeGreaterThan(0);
  expect(seen.length - rivals(seen)).toBe(30);
  expect(peers.flatMap(({ ran }) => ran).sort()).toEqual(names(30).sort());
});

it("a session that was taken out of turn is kept, though those who go before its holder are there still", async () => {
  const { clock, join, ownership } = world();
  const other = await join({ cycles: 5 });
  // Two more that are heard of and take nothing.
  for (const name of ["x", "y"]) await ownership.handle().gather("worker", name, 3_600_000);
  await clock.advance(leaseMs);
  const seen = claimsSeen(other);
  await submit(other, names(40));
  await clock.advance(2 * leaseMs + 6 * stepMs);
  expect([seen.length, rivals(seen)]).toEqual([40, 0]);
  for (const id of names(40)) expect((await other.engine.folds.open(id as SessionId)).open?.cycle).toBe("review");
});

it("a lease service that has forgotten everybody costs no session a turn for long, and no record", async () => {
  const { clock, join, ownership } = world();
  const peers = [await join(), await join()];
  await clock.advance(leaseMs);
  ownership.forget();
  await clock.advance(leaseMs);
  const seen = claimsSeen(peers[0] as Peer);
  await submit(peers[0] as Peer, names(30));
  await clock.advance(400);
  expect([seen.length, rivals(seen)]).toEqual([30, 0]);
});

it("an orderly stop is over within five seconds, whatever a step still waits for", async () => {
  const { clock, join } = world();
  const peer = await join({ takesMs: 60_000 });
  await clock.advance(leaseMs);
  await submit(peer, names(1));
  await clock.advance(400);
  expect(peer.ran).toEqual(names(1));
  let isOver = false;
  const stopped = peer.stop().then(() => {
    isOver = true;
  });
  await clock.advance(2_000);
  expect(isOver).toBe(false);
  await clock.advance(3_000);
  expect(isOver).toBe(true);
  await stopped;
});
