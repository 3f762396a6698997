import type { Offset, SessionId } from "../core/brand.ts";

export interface FedStatus {
  readonly sessionId: SessionId;
  /** The status as the views hold it, byte for byte. */
  readonly document: string;
}
export interface FeedStep {
  /** Of the ledger. */
  readonly partition: number;
  /** Every record of the ledger's partition before it has been folded into these. */
  readonly position: Offset;
  readonly statuses: readonly FedStatus[];
  /** Everything that was folded before `position` is in the feed with this step; up to where the feed itself has been looked through (next offset, by its partition). */
  readonly claim?: { readonly looked: ReadonlyMap<number, number> };
}
export interface FeedRecord extends FedStatus {
  /** Of the feed. */
  readonly partition: number;
  readonly offset: number;
  /** What its writer had folded of this ledger; null where it says nothing, or speaks of another ledger. */
  readonly position: { readonly partition: number; readonly offset: Offset } | null;
  readonly claims: boolean;
}

/** The latest status of each session for other systems: a log that keeps the last record of each, whoever wrote it. */
export interface StatusFeed {
  /** Fulfilled when all of it is durable, in order; gives the sessions whose status is larger than the feed takes. */
  write(step: FeedStep): Promise<readonly SessionId[]>;
  /** What the latest claims say: by partition of the ledger, before which offset everything is in the feed; and by partition of the feed, up to where it has been looked through. Partitions of which nothing is known have none. */
  claims(): Promise<{ readonly fed: ReadonlyMap<number, Offset>; readonly looked: ReadonlyMap<number, number> }>;
  /** Records from these offsets on, in order, to its end at the call; a partition that has none is left out. Gives where each partition ended. */
  read(from: ReadonlyMap<number, number>, visit: (record: FeedRecord) => void): Promise<ReadonlyMap<number, number>>;
  close(): Promise<void>;
}
