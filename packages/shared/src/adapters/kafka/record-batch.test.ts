import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { registerCodecs } from "./codecs.ts";
import { checksum } from "./crc32c.ts";
import { decodeBatches, longAt, planBatch, putBatch, putLong } from "./record-batch.ts";
import type { WireRecord } from "./records.ts";

const require = createRequire(import.meta.url);
/** The client's own code is the other side: what one writes the other has to read. */
const Decoder = require("kafkajs/src/protocol/decoder.js") as new (bytes: Buffer) => object;
const decodeAsClient = require("kafkajs/src/protocol/recordBatch/v0/decoder.js") as (decoder: object) => Promise<{ readonly records: readonly ClientRecord[] }>;
const { RecordBatch } = require("kafkajs/src/protocol/recordBatch/v0/index.js") as { RecordBatch: (batch: object) => Promise<{ readonly buffer: Buffer }> };
const Record_ = require("kafkajs/src/protocol/recordBatch/record/v0/index.js") as (record: object) => object;

interface ClientRecord {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
}
const plain = (records: readonly { readonly offset: number | string; readonly timestamp: number | string; readonly key: Buffer | null; readonly value: Buffer | null; readonly headers: object }[]): object[] =>
  records.map(({ offset, timestamp, key, value, headers }) => ({
    offset: Number(offset), timestamp: Number(timestamp), key: key?.toString("hex") ?? null, value: value?.toString("hex") ?? null,
    headers: Object.fromEntries(Object.entries(headers).map(([name, one]) => [name, (one as Buffer).toString("hex")])),
  }));

const timeMs = 1_795_990_000_123;
function encodeBatch(of: readonly WireRecord[], at: number): Buffer {
  const planned = planBatch(of);
  const bytes = Buffer.alloc(planned.bytes, 0xee);
  putBatch(planned, bytes, at);
  return bytes;
}
const records: readonly WireRecord[] = [
  { key: "session", value: "x".repeat(70_000), headers: { type: "claimed", "ledger-id": "l" } },
  { key: "séance ☂", value: Buffer.from([0, 1, 2, 255]), headers: {} },
  { key: null, value: null, headers: { empty: "" } },
  ...Array.from({ length: 200 }, (_, i): WireRecord => ({ key: `k${i}`, value: `{"n":${i}}`, headers: { type: "built" } })),
];

describe("a batch of records", () => {
  it("is read by the client as it was written", async () => {
    const bytes = encodeBatch(records, timeMs);
    const read = await decodeAsClient(new Decoder(bytes));
    expect(plain(read.records)).toEqual(plain((await decodeBatches(bytes)) ?? []));
    expect(read.records.map(({ key }) => key?.toString("utf8") ?? null)).toEqual(records.map(({ key }) => key));
    expect(read.records[0]).toMatchObject({ timestamp: String(timeMs), offset: "0" });
    expect(bytes.readUInt32BE(17)).toBe(checksum(bytes, 21));
    // No codec, no producer's id, no epoch of it and no number: the broker is not to drop what it takes for a repeat.
    expect([bytes.readInt16BE(21), bytes.readBigInt64BE(43), bytes.readInt16BE(51), bytes.readInt32BE(53)]).toEqual([0, -1n, -1, -1]);
  });

  it.each([0, 1, 2, 3, 4])("that the client wrote in codec %i is read as the client reads it, behind others and before one that is cut off", async (compression) => {
    registerCodecs();
    const messages = [{ key: "a", value: "one", headers: { h: "1" }, timestampDelta: 0 }, { key: "b", value: "zwei".repeat(400), headers: {}, timestampDelta: 5_000_000_000 }];
    const made = await RecordBatch({
      compression, firstOffset: "5000000000", firstTimestamp: timeMs, maxTimestamp: timeMs, lastOffsetDelta: 1,
      records: messages.map((message, offsetDelta) => Record_({ ...message, offsetDelta })),
    });
    const piece = Buffer.concat([encodeBatch(records.slice(0, 2), timeMs), made.buffer, made.buffer.subarray(0, made.buffer.length - 3)]);
    const read = (await decodeBatches(piece)) ?? [];
    const asClient = await decodeAsClient(new Decoder(made.buffer));
    expect(plain(read.slice(2))).toEqual(plain(asClient.records));
    expect(read.map(({ offset }) => offset)).toEqual([0, 1, 5_000_000_000, 5_000_000_001]);
  });

  it("keeps headers of any name, also of those that every object knows, and all of one name", async () => {
    const headers = { ["__proto__"]: [Buffer.from("1"), Buffer.from("2")], constructor: "3" };
    const [read] = (await decodeBatches(encodeBatch([{ key: "k", value: "v", headers }], timeMs))) ?? [];
    expect(Object.entries(read?.headers ?? {}).map(([name, one]) => [name, String(one)])).toEqual([["__proto__", "1,2"], ["constructor", "3"]]);
  });

  it("F46 is refused where any bit of it is another one, and none of its records is shown", async () => {
    const whole = encodeBatch(records.slice(1, 4), timeMs);
    for (let bit = 21 * 8; bit < whole.length * 8; bit++) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      await expect((async () => decodeBatches(bytes))()).rejects.toThrow("is damaged");
    }
  });

  it("of the format before this one is left to the client", async () => {
    const bytes = encodeBatch(records.slice(0, 1), timeMs);
    bytes[16] = 1;
    expect(await decodeBatches(bytes)).toBeNull();
  });
});

describe("numbers of a batch", () => {
  it("are exact up to the largest that a number of ours can be: times and offsets", async () => {
    const [most, earlier] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 2];
    for (const timeMs of [0, 2 ** 32 - 1, 2 ** 32, earlier, most]) {
      const bytes = encodeBatch(records.slice(0, 3), timeMs);
      putLong(bytes, earlier, 0);
      const read = (await decodeBatches(bytes)) ?? [];
      expect(read.map(({ timestamp }) => timestamp)).toEqual([timeMs, timeMs, timeMs]);
      expect(read.map(({ offset }) => offset)).toEqual([earlier, earlier + 1, most]);
      expect([longAt(bytes, 0), bytes.readBigInt64BE(0)]).toEqual([earlier, BigInt(earlier)]);
    }
  });
});

describe("the checksum", () => {
  it("is the known one of a known text, at every length beside a turn", () => {
    expect(checksum(Buffer.from("xx123456789"), 2)).toBe(0xe3069283);
    expect(checksum(Buffer.alloc(32), 0)).toBe(0x8a9136aa);
    expect(checksum(Buffer.from("a"), 0)).toBe(0xc1d04330);
  });
});
