/**
 * Records of the topic as entries of the ledger, and back.
 *
 * F1. What an entry's text is depends on its bytes alone: the registry's frame (a zero and a schema id of four bytes) is taken off
 *     without asking the registry, so that readers with and without one, or with one that is down, give the fold the same text.
 * F2. Bytes that are no UTF-8 are null and never repaired: two readers would repair them differently.
 */
import { isUtf8 } from "node:buffer";
import type { LogTime, Offset } from "../../core/brand.ts";
import type { LogEntry } from "../../ports/index.ts";
import type { FetchedRecord, WireRecord } from "./wire.ts";

const FRAME_MARK = 0;
const FRAME_BYTES = 5;

/** The entry that a record is; null for what is none: a marker of a transaction, and what was taken back. */
export function toEntry(partition: number, record: FetchedRecord): LogEntry | null {
  if (record.isNoRecord) return null;
  return {
    partition, offset: Number(record.offset) as Offset, time: Number(record.timestamp) as LogTime,
    key: record.key === null ? "" : record.key.toString("utf8"), value: textOf(record.value),
  };
}

/** The text of a value, out of the registry's frame where it is in one; null where it is no text. */
export function textOf(value: Buffer | null): string | null {
  if (value === null) return null;
  const isFramed = value.length >= FRAME_BYTES && value[0] === FRAME_MARK;
  const text = isFramed ? value.subarray(FRAME_BYTES) : value;
  return isUtf8(text) ? text.toString("utf8") : null;
}

/** A record of `key` as it is written: its headers say its type and which ledger it is meant for. */
export function toRecord(key: string, text: string, more: { readonly ledgerId: string; readonly bytes?: Uint8Array | undefined }): WireRecord {
  const type = typeOf(text);
  const headers = type === null ? { "ledger-id": more.ledgerId } : { type, "ledger-id": more.ledgerId };
  return { key, value: more.bytes === undefined ? text : Buffer.from(more.bytes), headers };
}

/** An envelope as this release writes it, up to its type: nothing before that can hold a quotation mark. */
const ENVELOPE = /^\{"v":1,"ledgerId":"[^"\\]*","eventId":"[^"\\]*","sessionId":"[^"\\]*","type":"([a-z_]+)"/;

function typeOf(text: string): string | null {
  const quick = ENVELOPE.exec(text)?.[1];
  if (quick !== undefined) return quick;
  if (!text.startsWith("{")) return null;
  try {
    const { type } = JSON.parse(text) as { readonly type?: unknown };
    return typeof type === "string" ? type : null;
  } catch {
    return null;
  }
}

/** Bytes that a record takes up in its batch, a little more than less. */
export function sizeOf({ key, value, headers }: WireRecord): number {
  let bytes = 32 + contentBytes(key) + contentBytes(value);
  for (const name in headers) {
    const content = headers[name] ?? null;
    if (Array.isArray(content)) for (const one of content as readonly Uint8Array[]) bytes += 4 + name.length + one.length;
    else bytes += 4 + name.length + contentBytes(content as string | Uint8Array | null);
  }
  return bytes;
}

function contentBytes(content: string | Uint8Array | null): number {
  return content === null ? 0 : typeof content === "string" ? Buffer.byteLength(content) : content.length;
}
