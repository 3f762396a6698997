/** Putting a dead letter back: what was set aside goes through the intake again, as it was or mended. */
import { isUtf8 } from "node:buffer";
import type { Clock, DeadLetter, DeadLetterRow, DeadLetters, Inbox } from "../ports/index.ts";

/** Names the letter on the record that is put back; the intake takes a session's name from it where the goal has none. */
export const replayOfHeader = "replay-of";

export interface Mended {
  readonly value?: Uint8Array | undefined;
  /** null = none. */
  readonly key?: Uint8Array | null | undefined;
}
export type Replayed =
  /** `before`: when it had been put back already; null = never. */
  | { readonly kind: "replayed"; readonly id: string; readonly at: string; readonly topic: string; readonly before: string | null }
  | { readonly kind: "unknown" }
  /** Its bytes were not kept whole: only a mended value can be put back. */
  | { readonly kind: "cut"; readonly source: { readonly topic: string; readonly partition: number; readonly offset: number } };

export interface Replaying {
  readonly inbox: Inbox;
  readonly deadLetters: DeadLetters;
  readonly clock: Pick<Clock, "now">;
}

/** First the record, then the note that it was put back: after a crash between them it may be put back again, and is the same session. */
export async function replayDeadLetter({ inbox, deadLetters, clock }: Replaying, id: string, mended: Mended = {}): Promise<Replayed> {
  const letter = await deadLetters.get(id);
  if (letter === null) return { kind: "unknown" };
  if (letter.isCut && mended.value === undefined) return { kind: "cut", source: letter.source };
  await inbox.put({
    key: mended.key === undefined ? letter.key : mended.key, value: mended.value ?? letter.value,
    headers: { ...letter.headers, [replayOfHeader]: new TextEncoder().encode(id) }, ...(letter.repeats && { repeats: letter.repeats }),
  });
  const at = new Date(clock.now()).toISOString();
  await deadLetters.markReplayed(id, at);
  return { kind: "replayed", id, at, topic: inbox.topic, before: letter.replayedAt };
}

/** Bytes as they are, and as text where they are text. */
export interface ShownBytes {
  readonly base64: string;
  readonly text: string | null;
}
/** A letter as it is shown to people and programs. */
export interface ShownLetter extends DeadLetterRow {
  readonly isCut: boolean;
  readonly key: ShownBytes | null;
  readonly value: ShownBytes | null;
  /** By name; the last one where a name stands several times. */
  readonly headers: Readonly<Record<string, ShownBytes>>;
  /** The ones before the last, in their order; left out where every name stands once. */
  readonly repeats?: Readonly<Record<string, readonly ShownBytes[]>> | undefined;
}

export function shownLetter({ key, value, headers, repeats, ...row }: DeadLetter): ShownLetter {
  return {
    ...row, key: key && shownBytes(key), value: value && shownBytes(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, content]) => [name, shownBytes(content)])),
    ...(repeats && { repeats: Object.fromEntries(Object.entries(repeats).map(([name, all]) => [name, all.map(shownBytes)])) }),
  };
}
function shownBytes(bytes: Uint8Array): ShownBytes {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { base64: content.toString("base64"), text: isUtf8(content) ? content.toString("utf8") : null };
}
