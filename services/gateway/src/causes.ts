/**
 * `cause.seq`, which writers leave out and readers fill in: the seq of the accepted record that a cause names.
 * Nobody judges by it; for the reader of an event it is the way back.
 */
import type { EventId, SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Change } from "@loopledger/shared/runtime";

const recordsKept = 32;
const sessionsKept = 500;

interface Recent {
  /** Seqs of the last accepted records. */
  readonly seqs: LastUsed<EventId, number>;
  /** The dispatch that was open last: the cause of all that its owner writes, however much that is. */
  open: { readonly eventId: EventId; readonly seq: number } | null;
}

/** The causes of what comes now lie in what has come just before; the few that do not are read from the ledger. */
export class RecentCauses {
  readonly #sessions = new LastUsed<SessionId, Recent>(sessionsKept);

  /** Takes in an accepted change, and gives the seq of its cause; undefined where it is not known here. */
  take({ sessionId, state, verdict, record }: Change): number | undefined {
    if (record === null || verdict.kind !== "accepted") return undefined;
    const recent = this.#of(sessionId);
    const cause = record.cause?.eventId;
    const found = cause === undefined ? undefined : (recent.seqs.get(cause) ?? (recent.open?.eventId === cause ? recent.open.seq : undefined));
    recent.seqs.set(record.eventId, verdict.seq);
    if (state.open && state.open.eventId !== recent.open?.eventId) recent.open = { eventId: state.open.eventId, seq: state.open.seq };
    return found;
  }
  #of(sessionId: SessionId): Recent {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const recent: Recent = { seqs: new LastUsed(recordsKept), open: null };
    this.#sessions.set(sessionId, recent);
    return recent;
  }
}

/** Keeps the `count` entries that were used last, and at most as many again: whole generations are dropped, so that no entry is taken out by itself. */
class LastUsed<K, V> {
  readonly #count: number;
  #young = new Map<K, V>();
  #old: ReadonlyMap<K, V> = new Map();

  constructor(count: number) {
    this.#count = count;
  }
  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }
  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size <= this.#count) return;
    this.#old = this.#young;
    this.#young = new Map([[key, value]]);
  }
}

/** The envelope as readers get it. */
export function withCause(record: LedgerRecord, seq: number | undefined): LedgerRecord {
  return record.cause === undefined || seq === undefined ? record : ({ ...record, cause: { ...record.cause, seq } } as LedgerRecord);
}
