/**
 * Sessions driven record by record through the runtime, without makers and checks: for tests of what reads the ledger.
 * The same seed walks the same way as long as nobody else writes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { Guards } from "@loopledger/shared/core/fencing/guards";
import { values } from "@loopledger/shared/core/session/persistent-map";
import type { SessionState } from "@loopledger/shared/core/session/state";
import {
  createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createMemoryReadModel,
} from "@loopledger/shared/memory";
import type { Clock, Handlers, Ids, Ledger, ReadModel } from "@loopledger/shared/ports";
import {
  type Draft, type Engine, type Failpoints, StaleOwner, Suspended, Tenure, appendAct, appendAll, makeEngine, submitGoal, withDerived,
} from "@loopledger/shared/runtime";
import { openSqliteLedger, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { type Random, dataDefaults, goalOf } from "@loopledger/shared/testing";

export const noHandlers: Handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
export const person: Actor = { kind: "human", id: "ann" };

export interface EngineOptions {
  readonly views?: ReadModel;
  readonly failpoints?: Failpoints;
  readonly guards?: Guards;
}
/** A place that several engines share: a ledger and its views. */
export interface Place {
  readonly ledgerId: string;
  /** A process of its own on the place; following from the ledger's end, unless it is `still`. */
  join(options?: EngineOptions & { readonly still?: boolean; readonly clock?: Clock }): Promise<Engine>;
  /** A handle of the place's views. */
  views(): ReadModel;
  close(): Promise<void>;
}

interface Making { readonly clock: Clock; readonly ids: Ids; readonly ledger: Ledger; readonly views: ReadModel }
async function engineOf({ clock, ids, ledger, views }: Making, options: EngineOptions & { readonly still?: boolean }): Promise<Engine> {
  const ports = {
    ledger, clock, ids, views: options.views ?? views, blobs: createMemoryBlobs(), ownership: createMemoryOwnership({ clock }).handle(),
    host: createMemoryHosts().on("host", createMemoryProcess(clock)), handlers: noHandlers,
  };
  const engine = makeEngine(ports, {
    leaseMs: 2_000, silenceMs: 60_000, ...(options.failpoints && { failpoints: options.failpoints }), ...(options.guards && { guards: options.guards }),
  });
  if (!options.still) await engine.folds.start(await ledger.end());
  return engine;
}

/** Everything that was opened is closed, the engines' folds first. */
function closing(): { engines: Engine[]; close(): Promise<void> } {
  const engines: Engine[] = [];
  return {
    engines,
    async close() {
      for (const engine of engines) await engine.folds.close();
      for (const engine of engines) await engine.views?.close();
      for (const engine of engines) await engine.ledger.close();
    },
  };
}

export function memoryPlace(clock: Clock = createSystemClock(), ledgerId?: string): Place {
  const ids = createSystemIds();
  const ledger = createMemoryLedger({ clock, ids, ...(ledgerId && { ledgerId }) });
  const model = createMemoryReadModel({ clock });
  const open = closing();
  return {
    ledgerId: ledger.ledgerId, views: () => model.handle({ ledgerId: ledger.ledgerId }), close: open.close,
    async join(options = {}) {
      const making = { clock: options.clock ?? clock, ids, ledger: ledger.handle(), views: model.handle({ ledgerId: ledger.ledgerId }) };
      const engine = await engineOf(making, options);
      open.engines.push(engine);
      return engine;
    },
  };
}

/** Files of a folder, which other processes may share. */
export function sqlitePlace(): Place & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-walk-"));
  const clock = createSystemClock();
  const ids = createSystemIds();
  const openLedger = (): Ledger => openSqliteLedger({ folder, clock, ids });
  const first = openLedger();
  const { ledgerId } = first;
  const open = closing();
  let unused: Ledger | null = first;
  return {
    folder, ledgerId, views: () => openSqliteReadModel({ folder, ledgerId }),
    async join(options = {}) {
      const ledger = unused ?? openLedger();
      unused = null;
      const engine = await engineOf({ clock: options.clock ?? clock, ids, ledger, views: openSqliteReadModel({ folder, ledgerId }) }, options);
      open.engines.push(engine);
      return engine;
    },
    async close() {
      await open.close();
      await unused?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const makerActor: Actor = { kind: "maker", id: "agent@sha256:1" };
const checkerActor: Actor = { kind: "checker", id: "tests@sha256:2" };
/** A walk ends where its verdicts end it, not where a ceiling does. */
const unbounded: Partial<Goal> = { budget: { iterations: 100_000 }, policy: { breaker: { same: null } } };
const both = { role: "worker", serves: ["build", "review"] } as const;

/** Walks the sessions of one process: each step appends what the session's state allows, and sometimes what it does not. */
export class Walker {
  readonly #engine: Engine;
  readonly #random: Random;
  readonly #tenures = new Map<SessionId, Tenure>();

  constructor(engine: Engine, random: Random) {
    this.#engine = engine;
    this.#random = random;
  }

  async step(sessionId: SessionId, goal: Partial<Goal> = {}): Promise<void> {
    const state = await this.#engine.folds.open(sessionId);
    if (!state.submission) {
      await submitGoal(this.#engine, goalOf({ ...unbounded, labels: { team: this.#random.pick(["web", "core"]) }, ...goal }), { actor: person, id: sessionId });
      return;
    }
    if (this.#random.chance(0.2)) return this.#disturb(sessionId);
    try {
      await this.#advance(state);
    } catch (error) {
      if (!(error instanceof StaleOwner || error instanceof Suspended)) throw error;
      this.#tenures.delete(sessionId);
    }
  }

  /** Goes on with what is owed: claims, builds, checks. */
  async #advance(state: SessionState): Promise<void> {
    if (!state.open || state.end) return writeOwed(this.#engine, state);
    const tenure = this.#tenures.get(state.sessionId);
    if (!tenure?.holds()) {
      const claimed = await Tenure.claim(this.#engine, state.sessionId, both);
      if (claimed) this.#tenures.set(state.sessionId, claimed);
      return;
    }
    await tenure.append([state.open.cycle === "build" ? this.#building(state) : checked(state, this.#random.chance(0.05))], { follow: true });
  }
  #building(state: SessionState): Draft {
    const asked = values(state.effects).find((effect) => effect.settled === null);
    if (asked) {
      return { type: "tool_result", data: { key: asked.key, outcome: this.#random.pick(["confirmed", "failed"]), result: { ok: true } }, actor: makerActor };
    }
    if (this.#random.chance(0.4)) return asking(state);
    return { type: "built", data: { summary: "changed one file", revision: `r${state.seq}`, usage: { costUsd: 0.25 } }, actor: makerActor };
  }

  /** What comes from outside, wanted or not: acts, rubbish, repeats. */
  async #disturb(sessionId: SessionId): Promise<void> {
    const engine = this.#engine;
    switch (this.#random.below(6)) {
      case 0: return void (await appendAct(engine, sessionId, { type: "guidance", data: { text: "look at the parser" }, actor: person }));
      case 1: return void (await appendAct(engine, sessionId, { type: "pause_requested", data: { now: false, reason: "" }, actor: person }));
      case 2: return void (await appendAct(engine, sessionId, { type: "resumed", data: { acceptCheck: false, reason: "" }, actor: person }));
      case 3: return engine.ledger.append(sessionId, ["this is no record"]);
      case 4: return engine.ledger.append(sessionId, [await this.#anEarlierText(sessionId)]);
      default: return void (await appendAct(engine, sessionId, { type: "budget_raised", data: { iterations: 1 }, actor: person }));
    }
  }
  async #anEarlierText(sessionId: SessionId): Promise<string> {
    return this.#random.pick(await this.#engine.ledger.readSession(sessionId)).value ?? "";
  }
}

/** What is owed, in the scheduler's name. */
async function writeOwed(engine: Engine, state: SessionState): Promise<void> {
  const records = withDerived(engine, state, []);
  if (records.length > 0) await appendAll(engine, state.sessionId, records);
}

function asking(state: SessionState): Draft {
  const open = state.open as NonNullable<SessionState["open"]>;
  const data = { ...dataDefaults.tool_requested(), key: `deploy:${state.seq}`, dispatch: open.eventId, leaf: open.leaf, iteration: open.iteration };
  return { type: "tool_requested", data, actor: makerActor };
}

/** A verdict on the open review. */
export function checked(state: SessionState, passes: boolean): Draft {
  const verdict = passes && state.open?.iteration !== 0 ? "PASS" : "FAIL";
  const data = { ...dataDefaults.check(), verdict, revision: state.lastBuilt?.revision ?? null, next_steps: verdict === "PASS" ? [] : [`step ${state.seq}`] } as const;
  return { type: "check", data: { ...data, next_steps: [...data.next_steps] }, actor: checkerActor };
}

/** Brings a session to its end by its own steps: green at the first build. */
export async function carryToEnd(engine: Engine, sessionId: SessionId): Promise<SessionState> {
  for (let tenure: Tenure | null = null; ; ) {
    const state = await engine.folds.open(sessionId);
    if (state.end || !state.submission) return state;
    if (!state.open) await writeOwed(engine, state);
    else if (!tenure?.holds()) tenure = await Tenure.claim(engine, sessionId, both);
    else if (state.open.cycle === "review") await tenure.append([checked(state, true)], { follow: true });
    else await tenure.append([{ type: "built", data: { summary: "done", revision: "r1", usage: {} }, actor: makerActor }], { follow: true });
  }
}
