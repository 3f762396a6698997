/** What goes over the wire is what the client would send and read, byte for byte and field for field. */
import { createRequire } from "node:module";
import protocol from "kafkajs/src/protocol/requests/index.js";
import { describe, expect, it, vi } from "vitest";
import { registerCodecs } from "./codecs.ts";
import { ownCall } from "./own-codec.ts";
import { longAt, planBatch, putBatch } from "./record-batch.ts";
import type { WireRecord } from "./records.ts";

const require = createRequire(import.meta.url);
const { RecordBatch } = require("kafkajs/src/protocol/recordBatch/v0/index.js") as { RecordBatch: (batch: object) => Promise<{ readonly buffer: Buffer }> };
const Record_ = require("kafkajs/src/protocol/recordBatch/record/v0/index.js") as (record: object) => object;

const messages: readonly WireRecord[] = [
  { key: "a", value: "séance ☂", headers: { type: "built", "ledger-id": "l" } },
  { key: null, value: null, headers: {} },
  { key: "b", value: Buffer.from([0, 255]), headers: { empty: "" } },
];
const produceArgs = {
  acks: -1, timeout: 6_000, compression: 0, transactionalId: null, producerId: undefined, producerEpoch: 0,
  topicData: [{ topic: "tópic", partitions: [{ partition: 7, messages, firstSequence: 0 }, { partition: 2, messages: messages.slice(0, 1), firstSequence: 0 }] }],
};
const fetchArgs = {
  replicaId: -1, isolationLevel: 0, maxWaitTime: 500, minBytes: 1, maxBytes: 1 << 20, rackId: "",
  topics: [{ topic: "tópic", partitions: [{ partition: 7, fetchOffset: 5_000_000_123, maxBytes: 4_096 }, { partition: 0, fetchOffset: 0, maxBytes: 1 }] }],
};
function own(api: "Produce" | "Fetch", version: number, args: object) {
  const call = ownCall(api, version, args);
  if (call === null) throw new Error(`There is none for ${api} ${version}.`);
  return call;
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const long = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([Buffer.from([0, Buffer.byteLength(value)]), Buffer.from(value)]);
const code = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

/** An answer to a fetch of one topic, with the pieces of its partitions. */
const fetched = (pieces: readonly Buffer[]): Buffer => Buffer.concat([
  int32(21), code(0), int32(0), int32(1), text("tópic"), int32(pieces.length),
  ...pieces.map((piece, partition) => Buffer.concat([int32(partition), code(partition === 0 ? 0 : 6), long(77), long(77), long(0), int32(1), long(3), long(4), int32(-1), int32(piece.length), piece])),
]);
const batch = (): Buffer => {
  const planned = planBatch(messages);
  const bytes = Buffer.alloc(planned.bytes);
  putBatch(planned, bytes, 1_795_990_000_123);
  return bytes;
};
const compressed = async (): Promise<Buffer> => (await RecordBatch({
  compression: 1, firstOffset: "9", firstTimestamp: 5, maxTimestamp: 5, lastOffsetDelta: 0, records: [Record_({ key: "z", value: "packed", headers: {}, offsetDelta: 0, timestampDelta: 0 })],
})).buffer;

describe("requests of our own encoding", () => {
  it.each([3, 4, 5, 6, 7])("Produce %i is the client's, but for the time and what the client writes as a producer's first numbers", async (version) => {
    vi.useFakeTimers({ now: 1_795_990_000_123 });
    try {
      const ours = own("Produce", version, produceArgs).encode(9).subarray(9);
      const theirs = (await protocol.requests.Produce.protocol({ version })(produceArgs).request.encode()).buffer;
      expect(ours.length).toBe(theirs.length);
      const head = 2 + 2 + 4 + 4 + 2 + Buffer.byteLength("tópic") + 4 + 4 + 4;
      expect(ours.subarray(0, head + 12)).toEqual(theirs.subarray(0, head + 12));
      // Behind the head of the first batch, its records and the whole place of the second.
      const first = planBatch(messages).bytes;
      expect(ours.subarray(head + 61, head + first + 8)).toEqual(theirs.subarray(head + 61, head + first + 8));
      expect(longAt(ours, head + 27)).toBe(1_795_990_000_123);
    } finally {
      vi.useRealTimers();
    }
  });

  it("Fetch is the client's, byte for byte", async () => {
    const theirs = (await protocol.requests.Fetch.protocol({ version: 11 })(fetchArgs).request.encode()).buffer;
    expect(own("Fetch", 11, fetchArgs).encode(0)).toEqual(theirs);
    expect(own("Fetch", 11, fetchArgs).encode(30).subarray(30)).toEqual(theirs);
  });

  it("are none of versions that are not known here", () => {
    expect(ownCall("Produce", 2, produceArgs)).toBeNull();
    expect(ownCall("Produce", 8, produceArgs)).toBeNull();
    expect(ownCall("Fetch", 10, fetchArgs)).toBeNull();
    expect(ownCall("Metadata", 6, {})).toBeNull();
  });
});

describe("answers that we read ourselves", () => {
  it.each([3, 5, 6, 7])("to Produce %i say what the client reads in them", async (version) => {
    const part = (partition: number, error: number, base: number): Buffer =>
      Buffer.concat([int32(partition), code(error), long(base), long(-1), version >= 5 ? long(1) : Buffer.alloc(0)]);
    const raw = Buffer.concat([int32(2), text("t"), int32(2), part(0, 0, 5_000_000_000), part(3, 6, -1), text("u"), int32(0), int32(250)]);
    const theirs = await protocol.requests.Produce.protocol({ version })(produceArgs).response.decode(raw) as { clientSideThrottleTime?: number; topics: { topicName: string; partitions: { partition: number; errorCode: number; baseOffset: string }[] }[] };
    const topics = theirs.topics.map(({ topicName, partitions }) => ({
      topicName, partitions: partitions.map(({ partition, errorCode, baseOffset }) => ({ partition, errorCode, baseOffset: Number(baseOffset) })),
    }));
    expect(own("Produce", version, produceArgs).decode(raw)).toEqual({ topics, clientSideThrottleTime: theirs.clientSideThrottleTime ?? 0 });
  });

  it("to Fetch are there at once where nothing is compressed, and later where something is", async () => {
    registerCodecs();
    const plain = own("Fetch", 11, fetchArgs).decode(fetched([batch(), Buffer.alloc(0)])) as unknown as Record<string, unknown>;
    expect(plain).toMatchObject({ clientSideThrottleTime: 21, responses: [{ topicName: "tópic", partitions: [{ partition: 0, errorCode: 0, lastStableOffset: 77, end: 77 }, { partition: 1, errorCode: 6, messages: [] }] }] });
    const answer = own("Fetch", 11, fetchArgs).decode(fetched([batch(), Buffer.concat([batch(), await compressed(), batch()])]));
    expect(answer).toBeInstanceOf(Promise);
    const later = await answer as unknown as { responses: readonly { partitions: readonly { messages: readonly { offset: number; value: Buffer | null }[] }[] }[] };
    expect(later.responses[0]?.partitions.map(({ messages: read }) => read.map(({ value }) => value?.toString() ?? null))).toEqual([
      ["séance ☂", null, "\u0000\ufffd"], ["séance ☂", null, "\u0000\ufffd", "packed", "séance ☂", null, "\u0000\ufffd"],
    ]);
  });

  it("to Fetch are left to the client where a batch is of an older format, also behind one that is compressed", async () => {
    const older = batch();
    older[16] = 1;
    expect(own("Fetch", 11, fetchArgs).decode(fetched([older]))).toBeNull();
    expect(await own("Fetch", 11, fetchArgs).decode(fetched([Buffer.concat([await compressed(), older])]))).toBeNull();
  });

  it("to Fetch say of each part that is damaged that it is, and give the others and what stands before the damage", async () => {
    const [damaged, alsoDamaged] = [batch(), await compressed()];
    damaged[70] = (damaged[70] ?? 0) ^ 1;
    alsoDamaged[22] = (alsoDamaged[22] ?? 0) ^ 1;
    const partsOf = async (...parts: readonly Buffer[]): Promise<readonly { messages: readonly unknown[]; damage?: unknown }[]> => {
      const answer = await own("Fetch", 11, fetchArgs).decode(fetched(parts)) as unknown as { responses: readonly { partitions: readonly { messages: readonly unknown[]; damage?: unknown }[] }[] };
      return answer.responses.flatMap(({ partitions }) => partitions);
    };
    const isDamaged = { messages: [], damage: expect.objectContaining({ message: expect.stringContaining("is damaged") }) };
    for (const packed of [Buffer.alloc(0), await compressed()]) {
      const [first, second] = await partsOf(Buffer.concat([packed, batch(), alsoDamaged, batch()]), damaged);
      expect(first?.messages.length).toBe(packed.length > 0 ? 4 : 3);
      expect(first).toMatchObject({ damage: isDamaged.damage });
      expect(second).toMatchObject(isDamaged);
    }
    expect((await partsOf(alsoDamaged, await compressed())).map(({ messages, damage }) => [messages.length, damage === undefined])).toEqual([[0, false], [1, true]]);
  });
});
