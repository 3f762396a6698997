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
  readonly isControlRecord: boolean;
}
export interface FetchedPart {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: number | string;
  readonly messages: readonly FetchedRecord[];
  /** Why what lies behind them cannot be read. */
  readonly damage?: unknown;
}
