/**
 * Carries one session through its roles in memory: decide, act, read back, decide again.
 *
 * K1. The next step starts when the own append has been read back; not on a poll, a view or a lease.
 * K2. A tenure that is lost is dropped whole; what follows starts from a claim.
 * K3. Between two steps a session whose turn has become another process's is handed back; one that was taken out of turn is kept.
 * K4. An error of ours never ends the process: the session is dropped and offered again, and a cycle that fails so three times is recorded as failed.
 *     A record of ours that is refused although nobody else has taken the session is such an error.
 */
import { messageOf } from "../core/errors.ts";
import type { LogTime, SessionId } from "../core/brand.ts";
import type { Cycle } from "../core/events/fields.ts";
import { type Decision, type WaitsOn, decide } from "../core/session/decide.ts";
import { type Checkpoint, type Owner, type SessionState, holderOf } from "../core/session/state.ts";
import { passingFault } from "../core/retry/passing.ts";
import type { Engine } from "./engine.ts";
import type { Liveness } from "./liveness.ts";
import type { Part } from "./supervision.ts";
import { StaleOwner, Suspended, Tenure } from "./tenure.ts";
import { nextChange } from "./watching.ts";

/** Runs one kind of cycle for the owner. Throws `StaleOwner` or `Suspended` where an append says so. */
export interface CycleRunner {
  readonly cycle: Cycle;
  readonly role: "worker" | "checker";
  run(tenure: Tenure, stopping: AbortSignal): Promise<void>;
  /** Settles what an earlier epoch left unknown. */
  settle(tenure: Tenure, keys: readonly string[], stopping: AbortSignal): Promise<void>;
  /** Does exactly what a person approved. */
  perform(tenure: Tenure, checkpoint: Checkpoint, stopping: AbortSignal): Promise<void>;
}
/** Writes what is owed although this process does not own the session. */
export interface Scheduler {
  /** There is something to write now. */
  owes(state: SessionState): boolean;
  /** Writes it; true where something was accepted. */
  write(state: SessionState): Promise<boolean>;
}
export interface CarryOptions {
  readonly stopping: AbortSignal;
  readonly cyclesMax?: number;
  /** Sessions that this process may claim; left out: all. */
  readonly claims?: ((state: SessionState) => boolean) | undefined;
}
export interface Crew {
  readonly runners: readonly CycleRunner[];
  /** Where this process has the scheduler's role. */
  readonly scheduler: Scheduler | null;
  readonly liveness: Liveness;
}
/** How a carrying ended, and the seq of the state that it was decided on. */
export type CarryEnd = { readonly seq: number } & (
  | { readonly kind: "over" | "stopped" | "advanced" }
  | { readonly kind: "rest"; readonly on: WaitsOn; readonly until: LogTime | null }
);

type Doing = Exclude<Decision, { do: "over" | "wait" }>;

const longestWaitMs = 30_000;
const internalTriesMax = 3;
/** Why a record is refused that says nothing of another owner: the next claim would only write it again. */
const ownFaults: ReadonlySet<StaleOwner["reason"]> = new Set(["key_conflict", "forbidden", "malformed", "duplicate", "wrong_cycle"]);
/** A cycle that left nothing on the ledger is not begun again at once, in ms. */
const restartMs = 1_000;

export class Carrier {
  readonly #engine: Engine;
  readonly #crew: Crew;
  readonly #serves: readonly Cycle[];
  readonly #part: Part;

  constructor(engine: Engine, crew: Crew) {
    this.#engine = engine;
    this.#crew = crew;
    this.#serves = crew.runners.map((runner) => runner.cycle);
    this.#part = engine.supervision.part("cycles");
  }

  /** Goes on until the session is over, rests, or this process stops; with `cyclesMax`, at most that many cycles. */
  async carry(sessionId: SessionId, options: CarryOptions): Promise<CarryEnd> {
    const turn = new Turn(this.#engine, sessionId, options.stopping);
    await this.#engine.failpoints.pass("worker.after_read");
    try {
      for (let cycles = 0; ; ) {
        const state = this.#engine.folds.whole(sessionId) ?? (await this.#engine.folds.open(sessionId));
        if (options.stopping.aborted || cycles >= (options.cyclesMax ?? Number.POSITIVE_INFINITY)) {
          await turn.handBack("orderly stop");
          return { kind: options.stopping.aborted ? "stopped" : "advanced", seq: state.seq };
        }
        const { scheduler } = this.#crew;
        if (scheduler?.owes(state) && (await scheduler.write(state))) continue;
        // What this process may not claim it still schedules; what it has claimed it goes on with.
        const serves = turn.tenure || (options.claims?.(state) ?? true) ? this.#serves : [];
        const decision = decide(state, {
          ownerId: this.#engine.ownerId, serves, carries: turn.tenure?.holds(state) ?? false,
          ownerIs: this.#isAnothers(state) ? await this.#crew.liveness.look(state.owner) : "live",
        });
        if (decision.do === "over") return { kind: "over", seq: state.seq };
        if (decision.do === "wait") {
          if (!turn.tenure?.holds(state) || decision.on !== "timer") return { kind: "rest", on: decision.on, until: decision.until, seq: state.seq };
          await turn.wait(this.#pause(decision.until));
          continue;
        }
        const isStep = await this.#act(turn, state, decision);
        if (isStep) cycles++;
        if (isStep && this.#hasMoved(turn)) {
          await turn.handBack("another process's turn");
          return { kind: "advanced", seq: state.seq };
        }
        if (decision.do === "run" && this.#engine.folds.peek(sessionId) === state) await turn.wait(restartMs);
      }
    } finally {
      this.#part.works(sessionId);
      turn.tenure?.drop();
      await this.#engine.failpoints.pass("worker.before_release");
    }
  }

  #isAnothers(state: SessionState): state is SessionState & { readonly owner: Owner } {
    return state.open !== null && state.owner !== null && state.owner.id !== this.#engine.ownerId;
  }
  #pause(until: LogTime | null): number {
    const ms = until === null ? longestWaitMs : until - this.#engine.logClock.now();
    return Math.min(longestWaitMs, Math.max(1, ms));
  }

  /** It was this process's turn when it claimed, and it is another one's now. */
  #hasMoved({ tenure, inTurn }: Turn): boolean {
    if (!inTurn || !tenure?.holds()) return false;
    const { state } = tenure;
    const runner = this.#crew.runners.find(({ cycle }) => cycle === state.open?.cycle);
    return runner !== undefined && this.#crew.liveness.rank(state, runner.role) > 0;
  }

  /** True where a cycle was run to its end. */
  async #act(turn: Turn, state: SessionState, decision: Doing): Promise<boolean> {
    const givenUp = turn.faults >= internalTriesMax && (decision.do === "run" || decision.do === "perform");
    try {
      if (givenUp) await turn.recordFault();
      else await this.#do(turn, state, decision);
      if (decision.do === "run") turn.faults = turn.passing = 0;
      this.#part.works(state.sessionId);
      return givenUp || decision.do === "run";
    } catch (error) {
      await this.#failed(turn, error);
      return false;
    }
  }
  #do(turn: Turn, state: SessionState, decision: Doing): Promise<void> {
    switch (decision.do) {
      case "claim": return this.#claim(turn, state, decision.cycle);
      case "hand_back": return turn.handBack(decision.why);
      case "settle": return this.#runner("build").settle(turn.held(), decision.keys, turn.stopping);
      case "perform": return this.#runner("build").perform(turn.held(), decision.checkpoint, turn.stopping);
      case "run": return this.#runner(decision.cycle).run(turn.held(), turn.stopping);
    }
  }
  #runner(cycle: Cycle): CycleRunner {
    const runner = this.#crew.runners.find((one) => one.cycle === cycle);
    if (!runner) throw new RangeError(`no runner for ${cycle}`);
    return runner;
  }

  async #claim(turn: Turn, state: SessionState, cycle: Cycle): Promise<void> {
    // What nobody holds is not taken from anybody: there the ledger alone decides.
    const holder = holderOf(state);
    if (holder && holder.id !== this.#engine.ownerId && !(await this.#crew.liveness.mayTakeOver(`${state.sessionId}#${state.epoch + 1}`))) {
      await turn.wait(this.#engine.leaseMs / 4);
      return;
    }
    await this.#engine.failpoints.pass("worker.after_lease");
    turn.tenure = await Tenure.claim(this.#engine, state.sessionId, { role: this.#runner(cycle).role, serves: this.#serves });
    turn.inTurn = this.#crew.liveness.rank(state, this.#runner(cycle).role) === 0;
    this.#engine.log.debug({ session: state.sessionId, epoch: state.epoch + 1, won: turn.tenure !== null }, "claim");
  }

  async #failed(turn: Turn, error: unknown): Promise<void> {
    if (error instanceof Suspended) return turn.wait(100);
    if (error instanceof StaleOwner && !ownFaults.has(error.reason)) {
      const current = this.#engine.folds.peek(turn.sessionId)?.epoch;
      this.#engine.log.info({ session: turn.sessionId, reason: error.reason, epoch: turn.tenure?.epoch, current }, error.message);
      turn.lose();
      return;
    }
    // What the surroundings lack for a while is no fault of the cycle, and is not recorded as one.
    if (passingFault(error) !== null) {
      turn.passing++;
      this.#engine.log.warn({ err: error, session: turn.sessionId, passing: turn.passing }, "cycle put off");
      turn.lose();
      return turn.wait(Math.min(longestWaitMs, 50 * 2 ** turn.passing));
    }
    turn.faults++;
    this.#part.failed(error, turn.sessionId);
    turn.lastFault = error instanceof StaleOwner ? new Error(`the ledger refuses what the owner of ${turn.sessionId} writes: ${error.reason}`) : error;
    turn.lose();
    await turn.wait(Math.min(longestWaitMs, 50 * 2 ** turn.faults));
  }
}

/** One carrying of one session: its tenure, if it has one, and how often we failed it. */
class Turn {
  readonly sessionId: SessionId;
  readonly stopping: AbortSignal;
  readonly #engine: Engine;
  tenure: Tenure | null = null;
  /** The last claim was made by who was to go first. */
  inTurn = false;
  faults = 0;
  /** Faults of the surroundings in a row. */
  passing = 0;
  lastFault: unknown = null;

  constructor(engine: Engine, sessionId: SessionId, stopping: AbortSignal) {
    this.#engine = engine;
    this.sessionId = sessionId;
    this.stopping = stopping;
  }
  held(): Tenure {
    if (!this.tenure) throw new StaleOwner(this.sessionId, "dropped");
    return this.tenure;
  }
  lose(): void {
    this.tenure?.drop();
    this.tenure = null;
  }
  wait(maxMs: number): Promise<void> {
    return nextChange(this.#engine, this.sessionId, { maxMs, signal: this.stopping });
  }
  async handBack(why: string): Promise<void> {
    const { tenure } = this;
    const open = tenure?.holds() ? tenure.state.open : null;
    if (tenure && open && !tenure.state.end) {
      await tenure.append([{ type: "handed_back", data: { dispatch: open.eventId, why }, actor: tenure.actor }]).catch((error: unknown) => {
        if (!(error instanceof StaleOwner || error instanceof Suspended)) throw error;
      });
    }
    this.lose();
  }
  /** Records the cycle as failed, and counts anew. */
  async recordFault(): Promise<void> {
    const { tenure, lastFault: error } = this;
    this.faults = 0;
    const open = tenure?.state.open;
    if (!tenure || !open) return;
    const message = messageOf(error);
    const data = {
      dispatch: open.eventId, class: "deterministic", code: "internal_error", fingerprint: `internal:${message.slice(0, 200)}`, terminal: false,
      message: message.slice(0, 8000), usage: {},
    } as const;
    await tenure.append([{ type: "cycle_failed", data, actor: tenure.actor }], { follow: true });
  }
}
