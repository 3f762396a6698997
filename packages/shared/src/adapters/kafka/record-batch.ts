/**
 * Record batches (format 2) to bytes and back. The client's own encoder and decoder make several objects a field; these make one a record.
 *
 * B1. What is written is one batch, uncompressed, of no producer, with the checksum over everything behind it.
 * B2. What is read is every whole batch of a piece, in any codec; a batch that the piece cuts off is left for the next request. One whose
 *     checksum is not that of its bytes is never taken for what somebody wrote: it is told, what stands before it is given, and nothing
 *     behind it.
 * B3. Offsets and times up to 2^53 are exact.
 * B4. Markers of transactions, and what a transaction wrote that was taken back, keep their offsets and are told as no records.
 */
import { decompress } from "./codecs.ts";
import { checksum } from "./crc32c.ts";
import type { FetchedRecord, WireRecord } from "./records.ts";
import { nothingTakenBack, type TakenBack } from "./taken-back.ts";

/** Where what stands in a batch, in bytes from its beginning. */
const at = { length: 8, epoch: 12, magic: 16, checksum: 17, attributes: 21, lastDelta: 23, firstTime: 27, maxTime: 35, producer: 43, producerEpoch: 51, sequence: 53, count: 57, records: 61 } as const;
const lengthEnd = 12;
const format = 2;
const none = -1;
const codecMask = 0x07;
const appendTimeMask = 0x08;
const transactionMask = 0x10;
const controlMask = 0x20;
const high = 2 ** 32;

type Content = string | Uint8Array | null;

function bytesOf(content: Content): number {
  return content === null ? none : typeof content === "string" ? Buffer.byteLength(content) : content.length;
}
/** Bytes of a number in the format's zigzag encoding. */
function varintBytes(value: number): number {
  let rest = (value << 1) ^ (value >> 31);
  let bytes = 1;
  for (; (rest & ~0x7f) !== 0; rest >>>= 7) bytes += 1;
  return bytes;
}
function fieldBytes(content: Content): number {
  const bytes = bytesOf(content);
  return bytes < 0 ? 1 : varintBytes(bytes) + bytes;
}

/** Bytes of a record without its own length in front. */
function bodyBytes({ key, value, headers }: WireRecord, delta: number): number {
  let bytes = 2 + varintBytes(delta) + fieldBytes(key) + fieldBytes(value);
  let count = 0;
  for (const name in headers) {
    const content = headers[name] ?? null;
    if (Array.isArray(content)) {
      count += content.length;
      for (const one of content as readonly Uint8Array[]) bytes += fieldBytes(name) + fieldBytes(one);
    } else {
      count += 1;
      bytes += fieldBytes(name) + fieldBytes(content as Content);
    }
  }
  return bytes + varintBytes(count);
}

class Writer {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, from: number) {
    this.bytes = bytes;
    this.at = from;
  }
  varint(value: number): void {
    let rest = (value << 1) ^ (value >> 31);
    for (; (rest & ~0x7f) !== 0; rest >>>= 7) this.bytes[this.at++] = (rest & 0x7f) | 0x80;
    this.bytes[this.at++] = rest;
  }
  field(content: Content): void {
    if (content === null) this.varint(none);
    else {
      this.varint(bytesOf(content));
      if (typeof content === "string") this.at += this.bytes.write(content, this.at, "utf8");
      else {
        this.bytes.set(content, this.at);
        this.at += content.length;
      }
    }
  }
  record({ key, value, headers }: WireRecord, { delta, bytes }: { readonly delta: number; readonly bytes: number }): void {
    this.varint(bytes);
    this.bytes[this.at++] = 0;
    this.varint(0);
    this.varint(delta);
    this.field(key);
    this.field(value);
    let count = 0;
    for (const name in headers) count += Array.isArray(headers[name]) ? (headers[name] as readonly unknown[]).length : 1;
    this.varint(count);
    for (const name in headers) {
      const content = headers[name] ?? null;
      for (const one of Array.isArray(content) ? (content as readonly Uint8Array[]) : [content as Content]) {
        this.field(name);
        this.field(one);
      }
    }
  }
}

/** Writes an integer of 64 bits. */
export function putLong(bytes: Buffer, value: number, place: number): void {
  bytes.writeInt32BE(Math.floor(value / high), place);
  bytes.writeUInt32BE(((value % high) + high) % high, place + 4);
}
/** Reads an integer of 64 bits. */
export function longAt(bytes: Buffer, place: number): number {
  return bytes.readInt32BE(place) * high + bytes.readUInt32BE(place + 4);
}

/** A batch whose bytes are counted, so that they can be put where there is room for them. */
export interface PlannedBatch {
  readonly records: readonly WireRecord[];
  /** Bytes of each record without its own length in front. */
  readonly sizes: readonly number[];
  /** Of the whole batch. */
  readonly bytes: number;
}
export function planBatch(records: readonly WireRecord[]): PlannedBatch {
  const sizes = records.map((record, delta) => bodyBytes(record, delta));
  let bytes: number = at.records;
  for (const size of sizes) bytes += varintBytes(size) + size;
  return { records, sizes, bytes };
}

/** Fills exactly these bytes with one batch of the records, of this time in ms. */
export function putBatch({ records, sizes }: PlannedBatch, bytes: Buffer, timeMs: number): void {
  bytes.fill(0, 0, at.length);
  bytes.writeInt32BE(bytes.length - lengthEnd, at.length);
  bytes.writeInt32BE(0, at.epoch);
  bytes[at.magic] = format;
  bytes.writeInt16BE(0, at.attributes);
  bytes.writeInt32BE(records.length - 1, at.lastDelta);
  putLong(bytes, timeMs, at.firstTime);
  putLong(bytes, timeMs, at.maxTime);
  putLong(bytes, none, at.producer);
  bytes.writeInt16BE(none, at.producerEpoch);
  bytes.writeInt32BE(none, at.sequence);
  bytes.writeInt32BE(records.length, at.count);
  const writer = new Writer(bytes, at.records);
  for (const [delta, record] of records.entries()) writer.record(record, { delta, bytes: sizes[delta] ?? 0 });
  bytes.writeUInt32BE(checksum(bytes, at.attributes), at.checksum);
}

class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, from: number) {
    this.bytes = bytes;
    this.at = from;
  }
  /** Numbers of up to 53 bits: a time may be further from its batch's than 32 bits say. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError("A record is cut off.");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  field(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** Its headers are looked at by few who read it, and taken apart only then. */
class BatchRecord implements FetchedRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly isNoRecord: boolean;
  readonly #headers: Buffer;

  constructor(cursor: Cursor, batch: { readonly offset: number; readonly firstTime: number; readonly time: number | null; readonly isNoRecord: boolean }) {
    const length = cursor.varint();
    const end = cursor.at + length;
    cursor.at += 1;
    const late = cursor.varint();
    this.timestamp = batch.time ?? batch.firstTime + late;
    this.offset = batch.offset + cursor.varint();
    this.key = cursor.field();
    this.value = cursor.field();
    this.isNoRecord = batch.isNoRecord;
    this.#headers = cursor.bytes.subarray(cursor.at, end);
    cursor.at = end;
  }
  get headers(): FetchedRecord["headers"] {
    const cursor = new Cursor(this.#headers, 0);
    // Names come from anybody: none of them may be one that an object has by itself.
    const all: Record<string, Buffer | Buffer[]> = Object.create(null);
    for (let left = cursor.varint(); left > 0; left--) {
      const name = cursor.field()?.toString("utf8") ?? "";
      const value = cursor.field() ?? Buffer.alloc(0);
      const before = all[name];
      all[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
    }
    return all;
  }
}

/** What stands on the broker's disk, or came over the wire, is not what was written. */
class DamagedBatch extends Error {
  constructor(offset: number) {
    super(`The batch at offset ${offset} is damaged: its checksum is not that of its bytes. See that a replica that is whole leads the partition, or restore it from a copy.`);
  }
}

/** Told of the damaged batch at which reading ends. */
type Tell = (damage: DamagedBatch) => void;
const refuse: Tell = (damage) => {
  throw damage;
};

/** The whole batch at a place; null where it is of a format before this one, undefined where the piece ends before it does, or it was told as damaged. */
function batchAt(bytes: Buffer, from: number, tell: Tell): Buffer | null | undefined {
  if (from + at.records > bytes.length) return undefined;
  if (bytes[from + at.magic] !== format) return null;
  const to = from + lengthEnd + bytes.readInt32BE(from + at.length);
  if (to > bytes.length) return undefined;
  const batch = bytes.subarray(from, to);
  if (batch.readUInt32BE(at.checksum) === checksum(batch, at.attributes)) return batch;
  tell(new DamagedBatch(longAt(batch, 0)));
  return undefined;
}
function codecOf(batch: Buffer): number {
  return batch.readInt16BE(at.attributes) & codecMask;
}

/** What is read, and by what it is judged. */
interface Piece {
  readonly records: FetchedRecord[];
  readonly takenBack: TakenBack;
  readonly tell: Tell;
}

/** Adds what stands in a batch, whose records lie in `body` from a place on. */
function takeBatch({ records, takenBack }: Piece, batch: Buffer, { body, start }: { readonly body: Buffer; readonly start: number }): void {
  const attributes = batch.readInt16BE(at.attributes);
  const isControl = (attributes & controlMask) !== 0;
  const offset = longAt(batch, 0);
  const isTakenBack = (attributes & transactionMask) !== 0 && takenBack.has(longAt(batch, at.producer), offset + batch.readInt32BE(at.lastDelta));
  const about = {
    offset, firstTime: longAt(batch, at.firstTime), isNoRecord: isControl || isTakenBack,
    time: (attributes & appendTimeMask) === 0 ? null : longAt(batch, at.maxTime),
  };
  const cursor = new Cursor(body, start);
  for (let left = batch.readInt32BE(at.count); left > 0; left--) records.push(new BatchRecord(cursor, about));
  if (isControl) takenBack.mark(longAt(batch, at.producer), records.at(-1)?.key ?? null);
}

/**
 * The records of the whole batches of a piece; null where one of them is of a format before this one, and a promise only where one is
 * compressed: what is written here never is.
 */
export function decodeBatches(bytes: Buffer, { tell = refuse, takenBack = nothingTakenBack }: Partial<Piece> = {}): FetchedRecord[] | null | Promise<FetchedRecord[] | null> {
  const piece: Piece = { records: [], takenBack, tell };
  for (let from = 0; ; ) {
    const batch = batchAt(bytes, from, tell);
    if (batch === null) return null;
    if (batch === undefined) return piece.records;
    if (codecOf(batch) !== 0) return decodeFrom(bytes, from, piece);
    takeBatch(piece, batch, { body: batch, start: at.records });
    from += batch.length;
  }
}

/** Goes on with a piece in which batches are compressed. */
async function decodeFrom(bytes: Buffer, begin: number, piece: Piece): Promise<FetchedRecord[] | null> {
  for (let from = begin; ; ) {
    const batch = batchAt(bytes, from, piece.tell);
    if (batch === null) return null;
    if (batch === undefined) return piece.records;
    const codec = codecOf(batch);
    if (codec === 0) takeBatch(piece, batch, { body: batch, start: at.records });
    else takeBatch(piece, batch, { body: await decompress(codec, batch.subarray(at.records)), start: 0 });
    from += batch.length;
  }
}
