/** What the commands that look ask for, of a ledger on this host or of a gateway: the answers are the same. */
import type { CheckpointView } from "@loopledger/shared/core/session/checkpoint-view";
import type { Explanation } from "@loopledger/shared/core/session/explain";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { EventRow } from "./event-rows.ts";

export interface ListQuery {
  readonly disposition?: string | undefined;
  readonly label?: string | undefined;
  /** Null = all. */
  readonly limit: number | null;
  readonly cursor?: string | undefined;
}
export interface ListRow {
  readonly view: StatusView;
  /** Names this row: a list goes on behind it. */
  readonly cursor: string;
}
export interface EventsQuery {
  /** Rows after this seq. */
  readonly after: number;
  /** Show refused records too. */
  readonly refused: boolean;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}
export interface ShownCheckpoint {
  readonly view: CheckpointView;
  readonly markdown: string;
}

/** Every call on a session that is not there throws `unknown_session`. */
export interface Reader {
  status(sessionId: string): Promise<StatusView>;
  /** The status now, and again after every change. */
  watch(sessionId: string, signal: AbortSignal): AsyncIterable<StatusView>;
  /** Newest first. */
  list(query: ListQuery): AsyncIterable<ListRow>;
  events(sessionId: string, query: EventsQuery): AsyncIterable<EventRow>;
  /** Throws `seq_ahead` where `at` is not reached. */
  explain(sessionId: string, at: number | null): Promise<Explanation>;
  /** Checkpoints that wait for a decision, oldest first. */
  pending(): Promise<readonly CheckpointView[]>;
  checkpoint(sessionId: string, checkpoint: string): Promise<ShownCheckpoint>;
  /** A payload; null where it is missing or cannot be had from here. */
  payload(sessionId: string, digest: string): Promise<Uint8Array | null>;
  close(): Promise<void>;
}
