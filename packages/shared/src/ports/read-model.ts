import type { Offset, SessionId } from "../core/brand.ts";

/** A view is one JSON document a session, written together with the partition's cursor. */
export interface ViewWrite {
  readonly sessionId: SessionId;
  readonly disposition: string;
  /** Milliseconds of the last accepted record. */
  readonly at: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly document: string;
  /** The fold's state as a snapshot, or null once the session has ended. A cache: the ledger always suffices. */
  readonly snapshot: string | null;
}
export interface ViewPage {
  readonly items: readonly { readonly sessionId: SessionId; readonly document: string }[];
  readonly next: string | null;
}

export interface ReadModel {
  /** Next offset to project of each partition that has one; empty for a fresh model or another ledger id. */
  cursors(projection: string): Promise<ReadonlyMap<number, Offset>>;
  /** One atomic compare-and-set: applied and true iff the partition's cursor is exactly `from` (0 where it has none). */
  write(projection: string, step: { partition: number; from: Offset; to: Offset; views: readonly ViewWrite[] }): Promise<boolean>;
  get(projection: string, sessionId: SessionId): Promise<string | null>;
  /** Newest first; `label` is `name=value`; throws `invalid_cursor`. */
  list(projection: string, query: { disposition?: string; label?: string; cursor?: string; limit: number }): Promise<ViewPage>;
  /** Snapshots of the sessions that are alive; none is older than a cursor that this object has shown, or a fold that starts from both has a hole. */
  alive(projection: string): AsyncIterable<{ sessionId: SessionId; snapshot: string }>;
  projections(): Promise<readonly string[]>;
  /** The projection to read: `main` until another is put to use. */
  active(): Promise<string>;
  use(projection: string): Promise<void>;
  drop(projection: string): Promise<void>;
  close(): Promise<void>;
}
