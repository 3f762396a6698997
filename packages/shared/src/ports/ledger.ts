import type { LogTime, Offset, SessionId } from "../core/brand.ts";

/** One entry as the log holds it. `time` is the log's own append time; `value` is null where it is no text. */
export interface LogEntry {
  readonly partition: number;
  readonly offset: Offset;
  readonly time: LogTime;
  readonly key: string;
  readonly value: string | null;
}
/** Next offset to read, one a partition; a partition that has none is not read. */
export type Positions = ReadonlyMap<number, Offset>;

export interface Subscription {
  /** Resolves once everything appended before the call has been handed to the listener; throws `ledger_closed` where that cannot come. */
  caughtUp(): Promise<void>;
  /** Where a log uses offsets up for what is no entry: next position of each partition, everything before which has been handed on. */
  readonly passed?: Positions;
  close(): Promise<void>;
}

/**
 * The append-only log: the only source of truth. It cannot refuse an append; the fold decides.
 * A read shows at least what this object has shown before, by `end`, a subscription or another read: a fold that begins with
 * a read and goes on with a subscription would else have a hole in it that nobody sees.
 */
export interface Ledger {
  readonly ledgerId: string;
  readonly partitions: number;
  partitionOf(key: string): number;
  /** One atomic batch of one session. Resolves when it is as durable as the ledger's setting; proves nothing about acceptance. */
  append(sessionId: SessionId, values: readonly string[]): Promise<void>;
  /** Entries of a partition from `from` (inclusive) in order, at most `limit`. Only an empty answer says that nothing follows: offsets may have no entry, and a short answer is no end. */
  read(partition: number, from: Offset, limit: number): Promise<readonly LogEntry[]>;
  /** All entries of one session from `from` (inclusive) in order. */
  readSession(sessionId: SessionId, from?: Offset): Promise<readonly LogEntry[]>;
  /** Next offset of each partition. */
  end(): Promise<Positions>;
  /** Hands entries on in log order, each exactly once a subscription, own appends included; a listener that threw is handed the same ones again, before any later. `ledger_lost` for a position after the end. */
  subscribe(from: Positions, listener: (entries: readonly LogEntry[]) => void): Promise<Subscription>;
  close(): Promise<void>;
}
