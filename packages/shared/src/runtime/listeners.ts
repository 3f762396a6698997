/**
 * Who hears of a fold's changes.
 *
 * H1. A listener hears of every change of a session in order, each exactly once for each time that the session is read.
 * H2. What it throws neither stops the fold nor reaches another listener. What it missed is read again from the ledger, folded
 *     from the state before it on, and told to this listener alone; until then it hears nothing newer of that session.
 */
import type { Offset, SessionId } from "../core/brand.ts";
import type { SessionState } from "../core/session/state.ts";
import type { Ledger, LogEntry } from "../ports/index.ts";
import type { Change } from "./change.ts";
import type { Part, Supervision } from "./supervision.ts";

export type Listener = (change: Change) => void;
export interface ListenersOptions {
  readonly ledger: Ledger;
  readonly supervision: Supervision;
  /** What an entry makes of a state. */
  readonly judge: (state: SessionState, entry: LogEntry) => Change;
  /** Somebody has caught up with what it missed. */
  readonly caughtUp: () => void;
}
/** What a listener has missed of a session. */
interface Behind {
  readonly partition: number;
  /** The state before `next`. */
  state: SessionState;
  /** First offset that it has not heard of. */
  next: Offset;
  /** The last that has been folded meanwhile. */
  last: Offset;
  readonly cancel: () => void;
}
interface Listening {
  readonly listener: Listener;
  readonly part: Part;
  readonly behind: Map<SessionId, Behind>;
}

export class Listeners {
  readonly #options: ListenersOptions;
  readonly #all = new Set<Listening>();
  readonly #ofOne = new Map<SessionId, Set<Listening>>();
  /** Those that have missed something. */
  readonly #late = new Set<Listening>();

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Every change of every session. */
  add(listener: Listener, name: string): () => void {
    const one = this.#make(listener, name);
    this.#all.add(one);
    return () => {
      this.#all.delete(one);
      this.#leave(one);
    };
  }
  /** The changes of one session. */
  addFor(sessionId: SessionId, listener: Listener, name: string): () => void {
    const one = this.#make(listener, name);
    const others = this.#ofOne.get(sessionId) ?? new Set();
    this.#ofOne.set(sessionId, others.add(one));
    return () => {
      others.delete(one);
      if (others.size === 0 && this.#ofOne.get(sessionId) === others) this.#ofOne.delete(sessionId);
      this.#leave(one);
    };
  }
  #make(listener: Listener, name: string): Listening {
    return { listener, part: this.#options.supervision.part(name), behind: new Map() };
  }
  #leave(one: Listening): void {
    if (!this.#late.delete(one)) return;
    for (const behind of one.behind.values()) behind.cancel();
    one.behind.clear();
  }

  tell(change: Change, before: SessionState): void {
    const ofOne = this.#ofOne.get(change.sessionId);
    if (ofOne) for (const one of ofOne) this.#tellOne(one, change, before);
    for (const one of this.#all) this.#tellOne(one, change, before);
  }
  get allHeard(): boolean {
    return this.#late.size === 0;
  }
  /** The first offsets that somebody has not heard of yet. */
  missed(): { readonly partition: number; readonly offset: Offset }[] {
    return [...this.#late].flatMap((one) => [...one.behind.values()].map(({ partition, next }) => ({ partition, offset: next })));
  }

  #tellOne(one: Listening, change: Change, before: SessionState): void {
    const { sessionId, entry } = change;
    const behind = one.behind.size > 0 ? one.behind.get(sessionId) : undefined;
    if (behind) {
      if (entry.offset > behind.last) behind.last = entry.offset;
      return;
    }
    try {
      one.listener(change);
    } catch (error) {
      const cancel = one.part.again(error, () => this.#retell(one, sessionId), sessionId);
      one.behind.set(sessionId, { partition: entry.partition, state: before, next: entry.offset, last: entry.offset, cancel });
      this.#late.add(one);
    }
  }

  /** Throws where the ledger cannot be read or the listener fails again; what it has heard by then it does not hear again. */
  async #retell(one: Listening, sessionId: SessionId): Promise<void> {
    for (let behind = one.behind.get(sessionId); behind; behind = one.behind.get(sessionId)) {
      const { last } = behind;
      for (const entry of await this.#options.ledger.readSession(sessionId, behind.next)) {
        if (one.behind.get(sessionId) !== behind) return;
        if (entry.offset < behind.next || entry.offset > last) continue;
        const change = this.#options.judge(behind.state, entry);
        one.listener(change);
        behind.state = change.state;
        behind.next = (entry.offset + 1) as Offset;
      }
      if (behind.next <= last) throw new Error(`the ledger does not show offset ${last} of ${sessionId}, which it has handed on`);
      if (behind.last !== last) continue;
      one.behind.delete(sessionId);
      if (one.behind.size === 0) this.#late.delete(one);
    }
    this.#options.caughtUp();
  }
}

/** Who hears that a fold's positions may have moved. It looks at the positions itself, so that one call makes up for any that failed. */
export class PositionListeners {
  readonly #supervision: Supervision;
  readonly #all = new Map<() => void, Part>();
  /** Those that are called again after a pause. */
  readonly #again = new Map<() => void, () => void>();

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
  }

  add(listener: () => void, name: string): () => void {
    this.#all.set(listener, this.#supervision.part(name));
    return () => {
      this.#all.delete(listener);
      this.#again.get(listener)?.();
      this.#again.delete(listener);
    };
  }
  tell(): void {
    for (const [listener, part] of this.#all) {
      if (this.#again.has(listener)) continue;
      try {
        listener();
      } catch (error) {
        const cancel = part.again(error, () => {
          listener();
          this.#again.delete(listener);
        });
        this.#again.set(listener, cancel);
      }
    }
  }
}

/** Who hears of sessions that become known after the start. What throws is called again after a pause, and stops nobody else. */
export class SeedListeners {
  readonly #supervision: Supervision;
  readonly #all = new Map<(state: SessionState) => void, Part>();

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
  }

  add(listener: (state: SessionState) => void, name: string): () => void {
    this.#all.set(listener, this.#supervision.part(name));
    return () => this.#all.delete(listener);
  }
  tell(state: SessionState): void {
    for (const [listener, part] of this.#all) part.now(() => listener(state), state.sessionId);
  }
}
