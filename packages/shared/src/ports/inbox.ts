/** Where a record of a topic stands. */
export interface SourcePosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}
/** Key, value and headers as their bytes are. */
export interface RawContent {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  /** By name; the last one where a name stands several times. */
  readonly headers: Readonly<Record<string, Uint8Array>>;
  /** The ones before the last, in their order, of names that stand several times. */
  readonly repeats?: Readonly<Record<string, readonly Uint8Array[]>> | undefined;
}
export interface InboxRecord extends RawContent {
  readonly source: SourcePosition;
}
/** Records from `from` up to `to` (exclusive) were removed before anybody had read them. */
export interface InboxGap {
  readonly from: SourcePosition;
  readonly to: number;
}
export interface InboxHandler {
  /** Records of one partition in order. The position moves once this is fulfilled; where it rejects, the same ones are handed on again after a pause. */
  readonly handle: (records: readonly InboxRecord[]) => Promise<void>;
  readonly gap: (gap: InboxGap) => void;
  /** Told of trouble with the topic itself; it is tried again. */
  readonly troubled: (error: unknown) => void;
}
export interface InboxReader {
  /** Leaves: another reader takes over at what was not fulfilled. */
  close(): Promise<void>;
}

/** The topic on which other systems put goals. Any number of readers share its partitions; one that dies is followed by another. */
export interface Inbox {
  readonly topic: string;
  read(handler: InboxHandler): Promise<InboxReader>;
  put(record: RawContent): Promise<void>;
  close(): Promise<void>;
}
