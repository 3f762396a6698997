import type { RawContent, SourcePosition } from "./inbox.ts";

export interface NewDeadLetter extends RawContent {
  readonly source: SourcePosition;
  readonly reason: string;
  readonly detail: string;
  /** When it was set aside, ISO 8601. */
  readonly at: string;
}
export interface DeadLetterRow {
  /** Made of the source position: the same record set aside twice is one letter. */
  readonly id: string;
  readonly reason: string;
  readonly detail: string;
  readonly at: string;
  readonly source: SourcePosition;
  /** The original key as text; null where it had none, or one that is no text. */
  readonly keyText: string | null;
  /** Of the original value; null where it had none. */
  readonly bytes: number | null;
  /** When it was last put back; null = never. */
  readonly replayedAt: string | null;
}
export interface DeadLetter extends DeadLetterRow, RawContent {
  /** The original was too large to be kept whole; it lies at its source position for as long as the topic keeps it. */
  readonly isCut: boolean;
}
export interface DeadLetterPage {
  readonly items: readonly DeadLetterRow[];
  /** Where the next page begins; null = this was the last. */
  readonly next: string | null;
}

/** What could not be taken in, with its original bytes. */
export interface DeadLetters {
  put(letters: readonly NewDeadLetter[]): Promise<void>;
  /** Newest first, behind the row whose id is `cursor`. Throws `invalid_cursor`. */
  list(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<DeadLetterPage>;
  get(id: string): Promise<DeadLetter | null>;
  markReplayed(id: string, at: string): Promise<void>;
  close(): Promise<void>;
}
