/**
 * The embedded loop in this process: scheduler, worker and checker on SQLite with its durable setting, handlers that are functions.
 * Nothing else of the product runs beside it, so that a figure is the loop's own; the other parts of the bench start the command.
 */
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { fn, makeHandlers, startStepServer } from "@loopledger/handlers/index";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import { openSqliteLedger, openSqliteOwnership } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { Carrier, type Engine, Liveness, Offers, type Ports, makeEngine, submitGoal } from "@loopledger/shared/runtime";
import { reviewRunner } from "@loopledger/checker/checker";
import { makeScheduler } from "@loopledger/scheduler/scheduler";
import { buildRunner } from "@loopledger/worker/worker";

export interface Loop {
  readonly engine: Engine;
  /** When each build of a session began, by this process's own clock, in ms. */
  readonly begun: ReadonlyMap<string, readonly number[]>;
  /** Runs one session to its end: so many iterations of one maker step and one check step each. */
  run(id: string, iterations: number): Promise<void>;
  stop(): Promise<void>;
}
interface Task {
  readonly sessionId: string;
  readonly iteration: number;
}

function benchHandlers(begun: Map<string, number[]>, wanted: ReadonlyMap<string, number>) {
  const maker = fn((task: Task) => {
    const list = begun.get(task.sessionId) ?? [];
    list.push(performance.now());
    begun.set(task.sessionId, list);
    return { summary: `unit ${task.iteration}`, revision: `r${task.iteration}` };
  });
  const check = fn((task: Task) => {
    const more = task.iteration < (wanted.get(task.sessionId) ?? 0);
    return { verdict: more ? "FAIL" : "PASS", evidence: {}, next_steps: more ? [`do-${task.iteration + 1}`] : [] };
  });
  return { makers: { bench: maker }, checks: { bench: check } };
}

/** The goal of every session: nothing but its iterations bounds it. */
export function benchGoal() {
  return goal.parse({
    goal: "bench", maker: "bench", check: "bench", budget: { iterations: null, wallSeconds: null }, policy: { failureFirst: false, breaker: { same: null } },
  });
}

export interface LoopOptions {
  /** Whether sessions are carried; without it they only come in. */
  readonly carries?: boolean;
  /** Puts something in front of the ports, to count what passes. */
  readonly before?: (ports: Ports) => Ports;
  /** Time of a lease, in ms. */
  readonly leaseMs?: number;
}

export async function openLoop(folder: string, { carries = true, before = (same) => same, leaseMs = 2000 }: LoopOptions = {}): Promise<Loop> {
  const clock = createSystemClock();
  const ids = createSystemIds();
  const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
  const begun = new Map<string, number[]>();
  const wanted = new Map<string, number>();
  const handlers = makeHandlers(benchHandlers(begun, wanted), {
    folder, environment: {}, sessionFolder: (id) => join(folder, id), blobs, steps: await startStepServer(),
  });
  const ledger = openSqliteLedger({ folder, clock, ids });
  const ownership = openSqliteOwnership({ folder, clock });
  const engine = makeEngine(before({ ledger, ownership, blobs, clock, ids, host: createSystemHost(), handlers }), { leaseMs, silenceMs: 60_000 });
  const liveness = new Liveness(engine, () => 600_000);
  await liveness.start();
  await engine.folds.start(await engine.ledger.end());
  const crew = { runners: [buildRunner(engine), reviewRunner(engine)], scheduler: makeScheduler(engine), liveness };
  const offers = new Offers(engine, crew, { carrier: new Carrier(engine, crew), settings: { sessionsMax: 2000 } });
  if (carries) offers.start();
  return {
    engine, begun,
    async run(id, iterations) {
      wanted.set(id, iterations);
      const over = endOf(engine, id as SessionId);
      await submitGoal(engine, benchGoal(), { actor: { kind: "human", id: "bench" }, id: id as SessionId });
      await over;
      wanted.delete(id);
    },
    async stop() {
      await offers.stop();
      await liveness.stop();
      await engine.folds.close();
      await ownership.close();
      await ledger.close();
    },
  };
}

function endOf(engine: Engine, id: SessionId): Promise<void> {
  return new Promise((done, failed) => {
    const stop = engine.folds.follow(id, ({ state }) => {
      if (!state.end || state.statusOwed) return;
      stop();
      if (state.end.disposition === "done") done();
      else failed(new Error(`session ${id} ended as ${state.end.disposition}: ${state.end.reason}`));
    });
  });
}
