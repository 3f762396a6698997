/** Folds the entries of one session as every reader does, and keeps the verdict on each. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { type FoldEntry, type Verdict, evolve } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import type { Ids, LogEntry } from "@loopledger/shared/ports";

export interface Judged {
  readonly entry: LogEntry;
  readonly folded: FoldEntry;
  readonly verdict: Verdict;
  /** The state that the entry led to. */
  readonly state: SessionState;
}

export function foldEntryOf(entry: LogEntry): FoldEntry {
  return {
    parsed: parseRecord(entry.value), text: entry.value ?? "", key: entry.key, time: entry.time, partition: entry.partition, offset: entry.offset,
    verified: "off",
  };
}

/** A fold that takes one entry after the other. */
export class SessionFold {
  readonly #sha256: Ids["sha256"];
  #state: SessionState;

  constructor(sessionId: SessionId, ids: Pick<Ids, "sha256">) {
    this.#sha256 = (text) => ids.sha256(text);
    this.#state = emptySession(sessionId);
  }
  get state(): SessionState {
    return this.#state;
  }
  take(entry: LogEntry): Judged {
    const folded = foldEntryOf(entry);
    const { state, verdict } = evolve(this.#state, folded, this.#sha256);
    this.#state = state;
    return { entry, folded, verdict, state };
  }
  takeAll(entries: readonly LogEntry[]): this {
    for (const entry of entries) this.take(entry);
    return this;
  }
}

/** The state of a session after all of its entries; a session without any is an empty one. */
export function foldAll(sessionId: SessionId, entries: readonly LogEntry[], ids: Pick<Ids, "sha256">): SessionState {
  return new SessionFold(sessionId, ids).takeAll(entries).state;
}
