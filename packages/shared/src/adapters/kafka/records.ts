/** Records of a topic as they go to the broker, and as they come back. */

export interface WireRecord {
  readonly key: string | Uint8Array | null;
  readonly value: string | Uint8Array | null;
  /** A name may stand several times. */
  readonly headers: Readonly<Record<string, string | Uint8Array | readonly Uint8Array[]>>;
}
/** A record as it comes back; the client's own decoder gives numbers of 64 bits as text. */
export interface FetchedRecord {
  readonly offset: number | string;
  readonly timestamp: number | string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | readonly Buffer[] | undefined>>;
  /** A marker of a transaction, or part of one that was taken back: its offset is used up, and that is all. */
  readonly isNoRecord: boolean;
}
export interface FetchedPart {
  readonly partition: number;
  readonly errorCode: number;
  /** Where the partition ends for a reader: what lies behind it is part of transactions that are not over, or stands behind one. */
  readonly lastStableOffset: number | string;
  /** Where it ends for those who write. */
  readonly end: number | string;
  readonly messages: readonly FetchedRecord[];
  /** Why what lies behind them cannot be read. */
  readonly damage?: unknown;
}
