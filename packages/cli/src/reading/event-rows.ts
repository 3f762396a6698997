/** The rows of `events`: the envelope and its seq, refused records with the reason. `cause.seq` is filled in for the reader. */
import { cutText } from "@loopledger/shared/core/json";
import type { EventId, SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Ids, LogEntry } from "@loopledger/shared/ports";
import { type Judged, SessionFold } from "./folding.ts";

export interface AcceptedRow {
  readonly seq: number;
  readonly record: LedgerRecord;
  /** Milliseconds as the log stamped them. */
  readonly time: number;
}
export interface RefusedRow {
  /** The last accepted seq before it: where a reader goes on. */
  readonly after: number;
  readonly reason: string;
  readonly detail: string | null;
  /** The envelope as far as it could be read. */
  readonly envelope: Readonly<Record<string, unknown>>;
  readonly time: number;
}
export type EventRow = ({ readonly kind: "accepted" } & AcceptedRow) | ({ readonly kind: "refused" } & RefusedRow);

/** Judges entries one by one and makes their rows. */
export class RowMaker {
  readonly fold: SessionFold;
  readonly #seqs = new Map<EventId, number>();

  constructor(sessionId: SessionId, ids: Pick<Ids, "sha256">) {
    this.fold = new SessionFold(sessionId, ids);
  }
  take(entry: LogEntry): EventRow {
    const judged = this.fold.take(entry);
    const { parsed } = judged.folded;
    if (judged.verdict.kind !== "accepted" || parsed.kind !== "record") return refused(judged);
    this.#seqs.set(parsed.record.eventId, judged.verdict.seq);
    return { kind: "accepted", seq: judged.verdict.seq, record: this.#withCause(parsed.record), time: entry.time };
  }
  #withCause(record: LedgerRecord): LedgerRecord {
    const seq = record.cause && this.#seqs.get(record.cause.eventId);
    return seq === undefined ? record : ({ ...record, cause: { ...record.cause, seq } } as LedgerRecord);
  }
}

function refused({ folded, verdict, state, entry }: Judged): EventRow {
  const { parsed } = folded;
  const detail = verdict.kind === "held" ? verdict.detail : parsed.kind === "record" ? null : parsed.detail;
  const envelope = parsed.kind === "record" ? { ...parsed.record } : membersOf(folded.text);
  return { kind: "refused", after: state.seq, reason: verdict.kind === "void" ? verdict.reason : "held", detail, envelope, time: entry.time };
}

/** What can be shown of a record that does not fit: its members where it is an object, else its text. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // It is shown as text below.
  }
  return { text: cutText(text, 4000) };
}

/** The row as programs read it. */
export function jsonRow(row: EventRow): { readonly cursor: number } & Readonly<Record<string, unknown>> {
  if (row.kind === "accepted") return { ...row.record, seq: row.seq, cursor: row.seq };
  const held = row.reason === "held";
  return { ...row.envelope, [held ? "held" : "void"]: held ? row.detail : row.reason, ...(!held && row.detail !== null && { detail: row.detail }), cursor: row.after };
}
