/**
 * `cause.seq`, which writers leave out and readers fill in: the seq of the accepted record that a cause names.
 * Nobody judges by it; for the reader of an event it is the way back.
 */
import type { EventId, SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Change } from "@loopledger/shared/runtime";

const recordsMax = 64;
const sessionsMax = 1_000;

interface Recent {
  /** Seqs of the last accepted records. */
  readonly seqs: Map<EventId, number>;
  /** The dispatch that was open last: the cause of all that its owner writes, however much that is. */
  open: { readonly eventId: EventId; readonly seq: number } | null;
}

/** The causes of what comes now lie in what has come just before; the few that do not are read from the ledger. */
export class RecentCauses {
  readonly #sessions = new Map<SessionId, Recent>();

  /** Takes in an accepted change, and gives the seq of its cause; undefined where it is not known here. */
  take({ sessionId, state, verdict, record }: Change): number | undefined {
    if (record === null || verdict.kind !== "accepted") return undefined;
    const recent = this.#of(sessionId);
    const cause = record.cause?.eventId;
    const found = cause === undefined ? undefined : (recent.seqs.get(cause) ?? (recent.open?.eventId === cause ? recent.open.seq : undefined));
    recent.seqs.set(record.eventId, verdict.seq);
    if (state.open) recent.open = { eventId: state.open.eventId, seq: state.open.seq };
    trim(recent.seqs, recordsMax);
    return found;
  }
  #of(sessionId: SessionId): Recent {
    const recent = this.#sessions.get(sessionId) ?? { seqs: new Map(), open: null };
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, recent);
    trim(this.#sessions, sessionsMax);
    return recent;
  }
}

/** Those that were used last stay. */
function trim<K>(map: Map<K, unknown>, max: number): void {
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** The envelope as readers get it. */
export function withCause(record: LedgerRecord, seq: number | undefined): LedgerRecord {
  return record.cause === undefined || seq === undefined ? record : ({ ...record, cause: { ...record.cause, seq } } as LedgerRecord);
}
