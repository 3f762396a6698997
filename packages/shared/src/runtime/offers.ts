/**
 * Offers work: which session may this process go on with now?
 *
 * O1. A change of a session, a timer that comes due and an owner that dies are the only reasons to look; nothing polls at rest.
 * O2. A session is carried by one loop of this process at most.
 * O3. Whatever a carrying throws is reported and the session is offered again; the reactor never ends by an error.
 * O4. What nobody holds is left to whose turn it is for a moment, and taken then all the same.
 * O5. An orderly stop is over in time: what a carrying still waits for then, a tool's answer say, is left to the next owner.
 */
import type { SessionId } from "../core/brand.ts";
import { nextDerived, nextDue } from "../core/session/derive.ts";
import { type Decision, decide } from "../core/session/decide.ts";
import { endsUnknown } from "../core/session/endings.ts";
import { type SessionState, holderOf } from "../core/session/state.ts";
import type { CarryEnd, Carrier, Crew } from "./carrier.ts";
import type { Engine } from "./engine.ts";
import { Holders } from "./holders.ts";
import type { Part } from "./supervision.ts";

export interface OffersSettings {
  /** Most sessions carried at a time. */
  readonly sessionsMax: number;
  /** Sessions that this process may claim; others are left to who can run them. */
  readonly claims?: (state: SessionState) => boolean;
  /** Longest that an orderly stop waits for what is carried, in ms (default 3,000). */
  readonly stopMsMax?: number;
}
/** How often an owner on this host is looked at while a session waits for it, in ms. */
const lookMs = 50;
/** How long what is owed is left to a live owner before a scheduler writes it, in ms. */
const graceMs = 200;
/** How long a session is left to each process that goes before this one with it, as a part of the lease, and how many of them count. */
const turnPerLease = 1 / 2;
const turnsMax = 3;
const stopMsMax = 3_000;

export class Offers {
  readonly #engine: Engine;
  readonly #crew: Crew;
  readonly #carrier: Carrier;
  readonly #settings: OffersSettings;
  readonly #stopping = new AbortController();
  readonly #carried = new Map<SessionId, Promise<void>>();
  readonly #waiting = new Set<SessionId>();
  readonly #alarms = new Map<SessionId, () => void>();
  /** Seq of the state that the running loop last decided on. */
  readonly #decided = new Map<SessionId, number>();
  /** Sessions that are left to others for a moment: the seq that they stand at, and since when (monotonic ms). */
  readonly #left = new Map<SessionId, { readonly seq: number; readonly since: number }>();
  readonly #holders: Holders;
  readonly #parts: { readonly sessions: Part; readonly timers: Part };
  #stopListening: (() => void) | null = null;

  constructor(engine: Engine, crew: Crew, parts: { readonly carrier: Carrier; readonly settings: OffersSettings }) {
    this.#engine = engine;
    this.#crew = crew;
    this.#carrier = parts.carrier;
    this.#settings = parts.settings;
    this.#parts = { sessions: engine.supervision.part("offers.sessions"), timers: engine.supervision.part("offers.timers") };
    this.#holders = new Holders({ liveness: crew.liveness, part: this.#parts.timers, lookMs, offer: (sessionId) => this.offer(sessionId) });
  }

  start(): void {
    const { folds } = this.#engine;
    const stops = [folds.listen((change) => this.offer(change.sessionId), "offers"), folds.onSeeded((state) => this.offer(state.sessionId), "offers")];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    for (const id of this.#engine.folds.ids()) this.#offerAgain(id);
  }
  /**
   * Hands back what is carried and waits until it is, for a while. Makers and checks are told to stop; a call under way is not
   * cut off, and nobody says what became of it: the next owner finds its intent.
   */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopping.abort();
    for (const cancel of this.#alarms.values()) cancel();
    this.#holders.stop();
    await new Promise<void>((resolve) => {
      const cancel = this.#parts.timers.after(this.#settings.stopMsMax ?? stopMsMax, resolve, "stop");
      void Promise.all(this.#carried.values()).then(() => {
        cancel();
        resolve();
      });
    });
    if (this.#carried.size > 0) this.#engine.log.warn({ sessions: [...this.#carried.keys()] }, "stopped before these were handed back; their next owner goes on with them");
  }
  carries(sessionId: SessionId): boolean {
    return this.#carried.has(sessionId);
  }
  get carried(): number {
    return this.#carried.size;
  }

  offer(sessionId: SessionId): void {
    if (this.#stopping.signal.aborted || this.#carried.has(sessionId)) return;
    const state = this.#engine.folds.peek(sessionId);
    if (!state || !this.#hasWork(state)) {
      this.#left.delete(sessionId);
      this.#holders.forget(sessionId);
      this.#parts.sessions.works(sessionId);
      return;
    }
    if (this.#carried.size >= this.#settings.sessionsMax) {
      this.#waiting.add(sessionId);
      return;
    }
    const carrying = this.#examine(sessionId, state).then(() => this.#parts.sessions.works(sessionId), (error: unknown) => this.#fault(sessionId, error)).then(() => this.#let(sessionId));
    this.#carried.set(sessionId, carrying);
  }
  /** Where the offer itself throws it is made again after a pause. */
  #offerAgain(sessionId: SessionId): void {
    this.#parts.timers.now(() => this.offer(sessionId), sessionId);
  }

  /** Anything that this process could do, now or later, without asking who lives. */
  #hasWork(state: SessionState): boolean {
    if (state.hold || (state.end && !state.statusOwed)) return endsUnknown(state.end) && state.timers.length > 0;
    if (this.#crew.scheduler && (nextDerived(state) || state.timers.length > 0)) return true;
    return state.open !== null && (this.#settings.claims?.(state) ?? true);
  }

  async #examine(sessionId: SessionId, state: SessionState): Promise<void> {
    this.#silence(sessionId);
    this.#decided.set(sessionId, state.seq);
    const owner = state.owner;
    const others = owner !== null && owner.id !== this.#engine.ownerId;
    const ownerIs = others && owner ? await this.#crew.liveness.look(owner) : "live";
    if (this.#crew.scheduler && nextDerived(state) && others && ownerIs === "live" && !state.end) {
      if (!(await this.#stillOwed(sessionId, state))) return;
    }
    const claimable = this.#settings.claims?.(state) ?? true;
    const serves = claimable ? this.#crew.runners.map((runner) => runner.cycle) : [];
    const decision = decide(state, { ownerId: this.#engine.ownerId, serves, carries: false, ownerIs });
    const writes = this.#crew.scheduler?.owes(state) ?? false;
    if (decision.do === "wait" && !writes) return this.#rest(sessionId, { kind: "rest", on: decision.on, until: decision.until, seq: state.seq });
    if (decision.do === "over" && !writes) return;
    const leftMs = this.#leftMs(state, decision);
    if (leftMs > 0) return this.#alarm(sessionId, leftMs);
    this.#left.delete(sessionId);
    const end = await this.#carrier.carry(sessionId, { stopping: this.#stopping.signal, claims: this.#settings.claims });
    this.#decided.set(sessionId, end.seq);
    this.#rest(sessionId, end);
  }

  /** How long a session that nobody holds is still left to those who go before this process with it, in ms. */
  #leftMs(state: SessionState, decision: Decision): number {
    const { liveness, runners } = this.#crew;
    const claims = decision.do === "claim";
    if (claims ? holderOf(state) !== null : state.owner?.id === this.#engine.ownerId) return 0;
    const role = claims ? runners.find(({ cycle }) => cycle === decision.cycle)?.role : "scheduler";
    const turns = role === undefined ? 0 : Math.min(turnsMax, liveness.rank(state, role));
    if (turns === 0) return 0;
    const now = this.#engine.clock.monotonic();
    const known = this.#left.get(state.sessionId);
    const since = known?.seq === state.seq ? known.since : now;
    this.#left.set(state.sessionId, { seq: state.seq, since });
    return since + turns * turnPerLease * this.#engine.leaseMs - now;
  }

  /** Leaves what is owed to its live owner for a moment; true where it is owed still. */
  async #stillOwed(sessionId: SessionId, state: SessionState): Promise<boolean> {
    const { signal } = this.#stopping;
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = (): void => resolve();
    const cancel = this.#parts.timers.after(graceMs, over, sessionId);
    signal.addEventListener("abort", over, { once: true });
    await promise;
    // The signal lives as long as the process: what was left on it here would be one more thing for each wait.
    signal.removeEventListener("abort", over);
    cancel();
    const now = this.#engine.folds.peek(sessionId);
    return now?.seq === state.seq;
  }

  #rest(sessionId: SessionId, end: CarryEnd): void {
    if (end.kind !== "rest") return;
    const holder = this.#engine.folds.peek(sessionId)?.owner;
    if (end.on === "holder" && holder) this.#holders.wait(sessionId, holder);
    if (end.on === "holder" || !this.#crew.scheduler) return;
    // Who waits for another role or for a person still has the timers to write.
    const state = this.#engine.folds.peek(sessionId);
    const until = end.until ?? (state ? nextDue(state) : null);
    if (until !== null) this.#alarm(sessionId, until - this.#engine.logClock.now());
  }
  #alarm(sessionId: SessionId, delayMs: number): void {
    this.#silence(sessionId);
    const cancel = this.#parts.timers.after(Math.max(1, Math.min(delayMs, 3_600_000)), () => {
      this.offer(sessionId);
      if (this.#alarms.get(sessionId) === cancel) this.#alarms.delete(sessionId);
    }, sessionId);
    this.#alarms.set(sessionId, cancel);
  }
  #silence(sessionId: SessionId): void {
    this.#holders.forget(sessionId);
    this.#alarms.get(sessionId)?.();
    this.#alarms.delete(sessionId);
  }

  #fault(sessionId: SessionId, error: unknown): void {
    this.#alarm(sessionId, this.#parts.sessions.failed(error, sessionId));
  }
  /** The loop is over: whatever changed since it decided is looked at again, and who waited for room gets it; who needs it no more passes it on. */
  #let(sessionId: SessionId): void {
    this.#carried.delete(sessionId);
    const decided = this.#decided.get(sessionId);
    this.#decided.delete(sessionId);
    for (const next of this.#waiting) {
      if (this.#carried.size >= this.#settings.sessionsMax) break;
      this.#waiting.delete(next);
      this.#offerAgain(next);
    }
    if (this.#engine.folds.peek(sessionId)?.seq !== decided) this.#offerAgain(sessionId);
  }
}
