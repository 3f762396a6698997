/** Runs a plan from its first instant until every session rests, or until patience ends. Nothing here looks at a real clock. */
import { messageOf } from "@loopledger/shared/core/errors";
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Guards, guardsOn } from "@loopledger/shared/core/fencing/guards";
import { makeEvolve } from "@loopledger/shared/core/session/evolve";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import {
  createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createMemoryReadModel, createSeededIds, createVirtualClock,
} from "@loopledger/shared/memory";
import type { Handlers, LogEntry, ReadModel } from "@loopledger/shared/ports";
import { type Engine, type Log, makeEngine, silentLog } from "@loopledger/shared/runtime";
import { type Fault, type Plan, type SessionPlan, world } from "../plan/plan.ts";
import { inject } from "./injector.ts";
import { Machine, type Surroundings } from "./machine.ts";
import { Observer } from "./observer.ts";
import { Person, people } from "./person.ts";
import { type PlantedBug, Target, type TargetRow } from "./target.ts";
import { Troubles } from "./troubles.ts";
import { type ViewWritten, Witness } from "./views.ts";
import { type Seen, Workshop } from "./workshop.ts";

export interface Options {
  /** Taken away one at a time to see what it holds back. */
  readonly guards?: Partial<Guards>;
  /** A bug that is planted in the target. */
  readonly bug?: PlantedBug;
  /** Gets what the programs log. */
  readonly log?: Log;
}
/** Everything that a judge may look at. */
export interface Run {
  readonly plan: Plan;
  readonly guards: Guards;
  readonly entries: readonly LogEntry[];
  readonly observer: Observer;
  readonly effects: readonly TargetRow[];
  readonly seen: readonly Seen[];
  readonly strays: readonly { readonly session: string; readonly what: string }[];
  readonly views: ReadModel;
  readonly writes: readonly ViewWritten[];
  readonly fired: readonly Fault[];
  /** What no program survives in silence. */
  readonly complaints: readonly string[];
  /** Sessions that neither ended nor wait for a named thing when patience ended. */
  readonly restless: readonly string[];
  /** The log grew beyond any reason. */
  readonly ranAway: boolean;
  readonly virtualMs: number;
}

const stepMs = 250;
const entriesMax = 6_000;
/** Everything is still from here: time for the views, and for whoever wakes up late. */
const afterglowMs = 3_000;

export async function simulate(plan: Plan, options: Options = {}): Promise<Run> {
  const guards: Guards = { ...guardsOn, ...options.guards };
  const clock = createVirtualClock();
  const ids = createSeededIds(plan.seed);
  const ledger = createMemoryLedger({ clock, ids, seed: plan.seed, partitions: 3, batchAtomicity: guards.batchAtomicity });
  const ownership = createMemoryOwnership({ clock, seed: plan.seed });
  const witness = new Witness();
  const views = createMemoryReadModel({ clock, seed: plan.seed, applied: witness.applied });
  const workshop = new Workshop(plan.sessions);
  const refused = new Set(plan.sessions.flatMap(({ iterations }) => iterations.flatMap(({ actions }) => actions.filter((one) => one.fails).map((one) => one.identity))));
  const target = new Target({ now: clock.now, refuses: (identity) => refused.has(identity), ...(options.bug && { bug: options.bug }) });
  const fired: Fault[] = [];
  const complaints: string[] = [];
  const report = (what: string, error: unknown): void => void complaints.push(`${what}: ${messageOf(error)}`);
  const troubles = new Troubles(plan.faults, (fault) => void fired.push(fault));
  const around: Surroundings = {
    clock, ledger, ownership, views, hosts: createMemoryHosts(), blobs: createMemoryBlobs(), bench: { world: clock, target, troubles, workshop },
    guards, seed: plan.seed, report, log: options.log ?? silentLog,
  };
  const machines = plan.machines.map((one) => new Machine(one, around));
  for (const machine of machines) machine.start();
  let advances = 0;
  const advance = (sessionId: SessionId): Promise<void> => machines[0]?.advance(sessionId, ++advances) ?? Promise.resolve();
  for (const [index, thinksMs] of plan.peopleMs.entries()) {
    const name = people[index] ?? "somebody";
    const person = new Person({ engine: await programOf(name, around), name, clock, target, sessions: plan.sessions, thinksMs, report, advance });
    person.watch();
    if (index === 0) person.begin();
  }
  inject(plan.faults, {
    clock, machines, forgetLeases: ownership.forget, changeCheck: (session) => workshop.changeCheck(session), fired: (fault) => void fired.push(fault),
    forgetViews: () => {
      witness.forgotten();
      views.forget();
    },
    loseLease: ({ ownerId }) => ownerId !== null && ownership.lose(ownerId),
  });
  const observer = new Observer(ledger.entries, makeEvolve(guards), ids.sha256);
  const restless = await untilRest(plan, { clock, observer, length: () => ledger.entries.length });
  for (const machine of machines) machine.process.kill();
  return {
    plan, guards, entries: ledger.entries, observer: observer.look(), effects: target.rows, seen: workshop.seen, strays: workshop.strays,
    views: views.handle({ ledgerId: ledger.ledgerId }), writes: witness.writes, fired, complaints, restless,
    ranAway: ledger.entries.length > entriesMax, virtualMs: clock.monotonic(),
  };
}

interface Waiting { readonly clock: Surroundings["clock"]; readonly observer: Observer; readonly length: () => number }

/** Time goes on until all is still; gives the sessions that never were. */
async function untilRest(plan: Plan, { clock, observer, length }: Waiting): Promise<string[]> {
  const restless = (): string[] => plan.sessions.filter((one) => !rests(observer.look().state(one.id), one)).map((one) => one.id);
  const lastAct = Math.max(0, ...plan.sessions.flatMap((one) => [...one.acts.map(({ at }) => at), ...one.submittedAt, one.mixedUpAt ?? 0])) + 500;
  const calm = Math.max(lastAct, ...plan.faults.map((fault) => ("at" in fault ? fault.at + ("forMs" in fault ? fault.forMs : "downMs" in fault ? fault.downMs : 0) : 0)));
  while (clock.monotonic() < world.calmAt + world.patienceMs && length() <= entriesMax) {
    await clock.advance(stepMs);
    if (clock.monotonic() < calm || restless().length > 0) continue;
    const before = length();
    await clock.advance(plan.faults.some(({ kind }) => kind === "forget-views") ? 3 * afterglowMs : afterglowMs);
    if (length() === before) return [];
  }
  return restless();
}

/** Ended and said so, or waiting for what the plan leaves undone. */
function rests(state: SessionState, plan: SessionPlan): boolean {
  if (state.end) return state.statusOwed === null && state.end.reason !== "incomplete_tool_turn";
  const standing = standingOf(state);
  return plan.expected.disposition === "waiting" && standing.disposition === "waiting" && standing.reason === plan.expected.reason && state.pause === null && !state.cancel;
}

const nobody: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
async function programOf(name: string, around: Surroundings): Promise<Engine> {
  const { clock, ledger } = around;
  const process = createMemoryProcess(clock);
  const handle = ledger.handle({ process, faults: { delayMs: [2, 2], lagMs: [2, 2], timeoutMs: world.ledgerTimeoutMs } });
  const ports = {
    ledger: handle, ownership: around.ownership.handle({ process }), blobs: around.blobs, clock: process.clock, ids: createSeededIds(`${around.seed}/${name}`),
    host: around.hosts.on("desk", process), handlers: nobody,
  };
  const engine = makeEngine(ports, { leaseMs: world.leaseMs, silenceMs: world.silenceMs, guards: around.guards, log: around.log });
  await engine.folds.start(await handle.end());
  return engine;
}
