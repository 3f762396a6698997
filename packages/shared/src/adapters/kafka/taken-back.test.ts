import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { type ClientPart, partOf } from "./client-part.ts";
import { decodeBatches, putBatch, planBatch } from "./record-batch.ts";
import { checksum } from "./crc32c.ts";
import { TakenBack } from "./taken-back.ts";

const require = createRequire(import.meta.url);
const Decoder = require("kafkajs/src/protocol/decoder.js") as new (bytes: Buffer) => object;
const decodeAsClient = require("kafkajs/src/protocol/recordBatch/v0/decoder.js") as (decoder: object) => Promise<{ readonly records: ClientPart["messages"] }>;
const asClientFilters = require("kafkajs/src/consumer/filterAbortedMessages.js") as (part: object) => ClientPart["messages"];

interface Given {
  readonly offset: number;
  readonly producer: number;
  /** Of a record its value, of a marker what it does. */
  readonly what: string | "takes back" | "makes good";
  readonly isMarker?: boolean;
  readonly isOutside?: boolean;
}
/** A batch of one record of a transaction, as a broker keeps it. */
function batchOf({ offset, producer, what, isMarker = false, isOutside = false }: Given): Buffer {
  const key = Buffer.from([0, 0, 0, what === "makes good" ? 1 : 0]);
  const planned = planBatch([{ key: isMarker ? key : Buffer.alloc(4), value: isMarker ? Buffer.alloc(6) : what, headers: {} }]);
  const bytes = Buffer.alloc(planned.bytes);
  putBatch(planned, bytes, 1_795_990_000_123);
  bytes.writeBigInt64BE(BigInt(offset), 0);
  bytes.writeInt16BE((isOutside ? 0 : 0x10) | (isMarker ? 0x20 : 0), 21);
  bytes.writeBigInt64BE(BigInt(producer), 43);
  bytes.writeUInt32BE(checksum(bytes, 21), 17);
  return bytes;
}
const marker = (offset: number, producer: number, what: "takes back" | "makes good"): Given => ({ offset, producer, what, isMarker: true });

const log: readonly Given[] = [
  { offset: 0, producer: 1, what: "outer" }, { offset: 1, producer: 2, what: "inner" }, { offset: 2, producer: 1, what: "outer" }, { offset: 3, producer: 3, what: "good", isOutside: true },
  marker(4, 2, "takes back"), { offset: 5, producer: 2, what: "good" }, { offset: 6, producer: 1, what: "outer" }, marker(7, 1, "takes back"), marker(8, 2, "makes good"),
  { offset: 9, producer: 1, what: "good" }, marker(10, 1, "makes good"), { offset: 11, producer: 2, what: "last" }, marker(12, 2, "takes back"),
];
/** In the order of their ends, as a broker tells them. */
const aborted = [{ producerId: 2, firstOffset: 1, end: 4 }, { producerId: 1, firstOffset: 0, end: 7 }, { producerId: 2, firstOffset: 11, end: 12 }];

test.each(log.map(({ offset }) => offset))("F47 a piece that begins at %i gives what was not taken back, here as at the client", async (from) => {
  const bytes = Buffer.concat(log.filter(({ offset }) => offset >= from).map(batchOf));
  const theirs = aborted.filter(({ end }) => end >= from);
  const good = log.filter(({ offset, what }) => offset >= from && what === "good").map(({ offset }) => offset);
  const read = await decodeBatches(bytes, { takenBack: new TakenBack(theirs) }) ?? [];
  expect(read.map(({ offset }) => offset)).toEqual(log.slice(from).map(({ offset }) => offset));
  expect(read.filter(({ isNoRecord }) => !isNoRecord).map(({ offset }) => offset)).toEqual(good);

  const decoder = new Decoder(bytes) as { canReadInt32?: () => boolean };
  const messages: ClientPart["messages"][number][] = [];
  for (let batches = log.length - from; batches > 0; batches--) messages.push(...(await decodeAsClient(decoder)).records);
  const abortedTransactions = theirs.map(({ producerId, firstOffset }) => ({ producerId: String(producerId), firstOffset: String(firstOffset) }));
  const part = partOf({ partition: 0, errorCode: 0, highWatermark: "15", lastStableOffset: "13", abortedTransactions, messages });
  expect(part).toMatchObject({ lastStableOffset: "13" });
  expect(part.messages.filter(({ isNoRecord }) => !isNoRecord).map(({ offset }) => Number(offset))).toEqual(good);
  expect(asClientFilters({ messages, abortedTransactions }).filter(({ isControlRecord }) => !isControlRecord).map(({ offset }) => Number(offset))).toEqual(good);
});
