/**
 * A tenure: one owner's hold on one session, in memory without a break.
 *
 * T1. One unread append at a time; n is the fold's last n + 1.
 * T2. What is not read back as accepted ends the tenure: `StaleOwner`, drop everything, no further act.
 *     Only `suspended` is no loss: the record was right, its time was not.
 * T3. The owner's next claim keeps the tenure, its live maker and that maker's token.
 */
import type { Epoch, SessionId } from "../core/brand.ts";
import type { Actor } from "../core/events/envelope.ts";
import type { Cycle } from "../core/events/fields.ts";
import type { JsonObject } from "../core/json.ts";
import { fence } from "../core/fencing/fence.ts";
import type { Verdict } from "../core/session/evolve.ts";
import type { SessionState, Suspension, VoidReason } from "../core/session/state.ts";
import { armedRetry, goesOnDuringRetry, waitsForRetry } from "../core/session/rules/cycles.ts";
import { appendAll, withDerived, writeDue } from "./appends.ts";
import type { Draft } from "./author.ts";
import type { Engine } from "./engine.ts";
import { nextChange } from "./watching.ts";

export class StaleOwner extends Error {
  override readonly name = "StaleOwner";
  readonly reason: VoidReason | "dropped";
  constructor(sessionId: SessionId, reason: VoidReason | "dropped") {
    super(`run ownership moved: ${sessionId} (${reason})`);
    this.reason = reason;
  }
}
export class Suspended extends Error {
  override readonly name = "Suspended";
}

/** Why its owner suspends a session: the reason, the sentence for a person, and what the one who resumes it needs to know. */
export interface Suspending {
  readonly reason: Suspension["reason"];
  readonly error: string;
  readonly detail?: JsonObject;
}

export interface Claiming {
  readonly role: "worker" | "checker";
  readonly serves: readonly Cycle[];
}

export class Tenure {
  readonly sessionId: SessionId;
  readonly #engine: Engine;
  readonly #claiming: Claiming;
  #epoch: Epoch;
  /** Monotonic time from before the last claim's append: deadlines of repeated calls count from it. */
  #since: number;
  /** The epoch that is being claimed next: its record is in the fold before its verdict is heard here. */
  #next: Epoch | null = null;
  #dropped = false;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(engine: Engine, claiming: Claiming, at: { sessionId: SessionId; epoch: Epoch; since: number }) {
    this.#engine = engine;
    this.#claiming = claiming;
    this.sessionId = at.sessionId;
    this.#epoch = at.epoch;
    this.#since = at.since;
  }

  /** Claims the open dispatch under the next epoch; null where somebody else was first. */
  static async claim(engine: Engine, sessionId: SessionId, claiming: Claiming): Promise<Tenure | null> {
    const state = await engine.folds.open(sessionId);
    const epoch = (state.epoch + 1) as Epoch;
    const since = engine.clock.monotonic();
    const verdict = await claimEpoch(engine, state, { ...claiming, epoch });
    return verdict.kind === "accepted" ? new Tenure(engine, claiming, { sessionId, epoch, since }) : null;
  }

  get epoch(): Epoch {
    return this.#epoch;
  }
  get since(): number {
    return this.#since;
  }
  get state(): SessionState {
    const state = this.#engine.folds.peek(this.sessionId);
    if (!state) throw new StaleOwner(this.sessionId, "dropped");
    return state;
  }
  /** The owner, in the role that the open cycle has. */
  get actor(): Actor {
    return { kind: this.state.open?.cycle === "review" ? "checker" : "worker", id: this.#engine.ownerId };
  }
  /** The fold still names this process owner in this epoch, or in the one that it is claiming, and it has not let go. */
  holds(state: SessionState | undefined = this.#engine.folds.peek(this.sessionId)): boolean {
    if (this.#dropped || state?.owner?.id !== this.#engine.ownerId) return false;
    return state.epoch === this.#epoch || state.epoch === this.#next;
  }
  drop(): void {
    this.#dropped = true;
  }

  /**
   * Appends owner records and, where `follow` is set, what they call for, in one batch.
   * Throws `StaleOwner` where a record is not accepted, `Suspended` where only its time was wrong.
   */
  async append(drafts: readonly Draft[], options: { readonly follow?: boolean } = {}): Promise<void> {
    const follow = options.follow ?? false;
    while (!(await this.#alone(() => this.#appendNow(drafts, follow)))) await this.untilRetryIsOver();
  }
  /**
   * Waits until no retry of the session is armed. One that came due is written by who waits for it, whether or not a scheduler is near.
   * Throws `Suspended` where `signal` aborts first: the retry stays armed, and the dispatch open.
   */
  async untilRetryIsOver(signal?: AbortSignal): Promise<void> {
    for (;;) {
      if (!this.holds()) throw this.#lost({ kind: "void", reason: "stale_epoch" });
      const timer = armedRetry(this.state);
      if (!timer) return;
      if (signal?.aborted) throw new Suspended(`${this.sessionId} waits for its retry`);
      const waitMs = timer.dueAt - this.#engine.logClock.now();
      if (waitMs > 0) await nextChange(this.#engine, this.sessionId, { maxMs: waitMs, signal });
      else await this.#alone(() => writeDue(this.#engine, this.sessionId));
    }
  }
  /** The session waits for a person or a budget from here on, and this tenure is over. Throws as `append` does. */
  async suspend(why: Suspending): Promise<void> {
    await this.append([{ type: "status", data: { disposition: "waiting", ...why }, actor: this.actor }]);
    this.drop();
  }
  /** The owner's next epoch: what it did not see the end of becomes unknown, and can be looked at under a higher token. */
  reclaim(): Promise<void> {
    return this.#alone(async () => {
      this.#mustHold();
      const epoch = (this.#epoch + 1) as Epoch;
      const since = this.#engine.clock.monotonic();
      this.#next = epoch;
      const verdict = await claimEpoch(this.#engine, this.state, { ...this.#claiming, epoch });
      if (verdict.kind !== "accepted") throw this.#lost(verdict);
      this.#epoch = epoch;
      this.#since = since;
    });
  }

  /** One thing at a time, whatever became of the one before. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next;
    return next;
  }
  #mustHold(): void {
    if (!this.holds()) throw this.#lost({ kind: "void", reason: "stale_epoch" });
  }

  /** False where a retry is armed, and what is to be written has to wait until it is over. */
  async #appendNow(drafts: readonly Draft[], follow: boolean): Promise<boolean> {
    this.#mustHold();
    if (waitsForRetry(this.state) && drafts.some((draft) => !goesOnDuringRetry(draft.type))) return false;
    const { state } = this;
    const tenancy = { epoch: this.#epoch, ownerId: this.#engine.ownerId, ...(state.open && { dispatch: state.open.eventId }) };
    const own = drafts.map((draft, index) => this.#engine.author.write(this.sessionId, draft, { ...tenancy, n: state.n + 1 + index }));
    const first = own[0];
    const refused = first ? fence(state, first.record, this.#engine.guards) : null;
    if (refused) throw this.#lost({ kind: "void", reason: refused });
    const verdicts = await appendAll(this.#engine, this.sessionId, follow ? withDerived(this.#engine, state, own) : own);
    if (!this.#engine.guards.readBack) return true;
    const bad = verdicts.slice(0, own.length).find((verdict) => verdict.kind !== "accepted");
    if (bad) throw this.#lost(bad);
    return true;
  }

  #lost(verdict: Verdict): Error {
    if (verdict.kind === "void" && verdict.reason === "suspended") return new Suspended(`${this.sessionId} is suspended`);
    this.#dropped = true;
    return new StaleOwner(this.sessionId, verdict.kind === "void" ? verdict.reason : "dropped");
  }
}

async function claimEpoch(engine: Engine, state: SessionState, claim: Claiming & { readonly epoch: Epoch }): Promise<Verdict> {
  if (!state.open) return { kind: "void", reason: "not_owed" };
  const actor: Actor = { kind: claim.role, id: engine.ownerId };
  const data = { dispatch: state.open.eventId, serves: [...claim.serves], leaseMs: engine.leaseMs, host: engine.host.self() };
  const written = engine.author.write(state.sessionId, { type: "claimed", data, actor }, { epoch: claim.epoch, ownerId: engine.ownerId });
  const [verdict] = await appendAll(engine, state.sessionId, [written]);
  if (claim.serves.includes("build")) await engine.failpoints.pass("worker.after_claim_readback");
  return verdict ?? { kind: "void", reason: "rival" };
}
