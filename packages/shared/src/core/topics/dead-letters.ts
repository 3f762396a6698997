/**
 * Dead letters: what of a record that could not be taken in stands beside its original bytes, and how letters are told apart and listed.
 *
 * D1. A letter's id is its source position, so that a record set aside twice, after a crash between the letter and the commit, is one letter.
 * D2. Every header of the original comes back under its own name, also where the letter has a header of that name itself.
 * D3. What stands on the topic and is no letter is passed over.
 */
import { LoopledgerError } from "../errors.ts";

export interface LetterSource {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}
export interface LetterNotes {
  readonly source: LetterSource;
  readonly reason: string;
  readonly detail: string;
  readonly at: string;
  /** Bytes of the original value where it was too large to be kept whole; null = it is whole. */
  readonly cutFrom: number | null;
}
/** `{ topic, partition, offset }` as one name, of the characters that a session id may have. */
export function positionName({ topic, partition, offset }: LetterSource): string {
  return `${topic}-${partition}-${offset}`;
}

/** A record that says that a letter was put back; it has no value. */
export const replayedHeader = "replayed-letter";
const noteNames = ["reason", "detail", "source-topic", "source-partition", "source-offset", "at", "cut-from", replayedHeader] as const;
const escaped = "original-";

export function headersOfNotes({ source, reason, detail, at, cutFrom }: LetterNotes): Record<string, string> {
  return {
    reason, detail, at, "source-topic": source.topic, "source-partition": String(source.partition), "source-offset": String(source.offset),
    ...(cutFrom !== null && { "cut-from": String(cutFrom) }),
  };
}
/** null where the headers are not those of a letter. */
export function notesOfHeaders(headers: Readonly<Record<string, string>>): LetterNotes | null {
  const { reason, detail = "", at = "", "source-topic": topic } = headers;
  const [partition, offset, cutFrom] = (["source-partition", "source-offset", "cut-from"] as const).map((name) => numberOf(headers[name]));
  if (reason === undefined || topic === undefined || typeof partition !== "number" || typeof offset !== "number") return null;
  return { reason, detail, at, source: { topic, partition, offset }, cutFrom: cutFrom ?? null };
}
function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/** The name under which a header of the original is kept. */
export function keptName(name: string): string {
  return name.startsWith(escaped) || (noteNames as readonly string[]).includes(name) ? `${escaped}${name}` : name;
}
/** The original's name of a header that was kept; null where it is the letter's own. */
export function originalName(name: string): string | null {
  if (name.startsWith(escaped)) return name.slice(escaped.length);
  return (noteNames as readonly string[]).includes(name) ? null : name;
}

interface Row {
  readonly id: string;
  readonly at: string;
}
/** The page behind `cursor`, newest first. Throws `invalid_cursor` where no row has that id. */
export function pageOfLetters<R extends Row>(rows: readonly R[], { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined }): { readonly items: readonly R[]; readonly next: string | null } {
  const sorted = [...rows].sort((a, b) => (a.at === b.at ? compare(b.id, a.id) : compare(b.at, a.at)));
  const behind = cursor === undefined ? 0 : sorted.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && behind === 0) throw new LoopledgerError("invalid_cursor", `There is no dead letter ${cursor.slice(0, 300)} to go on behind.`);
  const items = sorted.slice(behind, behind + limit);
  return { items, next: behind + limit < sorted.length ? (items.at(-1)?.id ?? null) : null };
}
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
