/**
 * The two requests that carry records, with our own encoding and decoding in place of the client's, wherever the broker speaks a version
 * that is known here. The client's stands behind it for all others. A request is put into bytes once, with room in front for its head.
 */
import { decodeBatches, longAt, type PlannedBatch, planBatch, putBatch, putLong } from "./record-batch.ts";
import type { FetchedPart, WireRecord } from "./records.ts";
import { TakenBack } from "./taken-back.ts";

/** What a Produce request is made of. */
export interface ProduceArgs {
  readonly acks: number;
  readonly timeout: number;
  readonly topicData: readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number; readonly messages: readonly WireRecord[] }[] }[];
}
/** What a Fetch request is made of. */
export interface FetchArgs {
  readonly replicaId: number;
  readonly isolationLevel: number;
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly topics: readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number; readonly fetchOffset: number; readonly maxBytes: number }[] }[];
}

/** One request in bytes, and what reads its answer. */
export interface OwnCall {
  /** Behind so many bytes that are free. */
  encode(free: number): Buffer;
  /** Null where only the client can read it. */
  decode(raw: Buffer): OwnAnswer | null | Promise<OwnAnswer | null>;
}
export interface OwnAnswer {
  /** How long the broker asks this client to wait before its next request, in ms. */
  readonly clientSideThrottleTime: number;
}

/** From the first one with batches of format 2 to the last one that the client knows, they are the same; answers tell more from time to time. */
const produceVersions = { first: 3, logStart: 5, throttle: 6, last: 7 } as const;
const fetchVersion = 11;
const noText = -1;
const noEpoch = -1;
const noOffset = -1;

/** Null where this version is none that is known here. */
export function ownCall(api: string, version: number, args: object): OwnCall | null {
  if (api === "Produce" && version >= produceVersions.first && version <= produceVersions.last) {
    return { encode: (free) => encodeProduce(args as ProduceArgs, free), decode: (raw) => decodeProduce(raw, version) };
  }
  if (api === "Fetch" && version === fetchVersion) return { encode: (free) => encodeFetch(args as FetchArgs, free), decode: decodeFetch };
  return null;
}

class Request {
  readonly bytes: Buffer;
  at: number;

  constructor(free: number, bytes: number) {
    this.bytes = Buffer.allocUnsafe(free + bytes);
    this.at = free;
  }
  int8(value: number): void {
    this.at = this.bytes.writeInt8(value, this.at);
  }
  int16(value: number): void {
    this.at = this.bytes.writeInt16BE(value, this.at);
  }
  int32(value: number): void {
    this.at = this.bytes.writeInt32BE(value, this.at);
  }
  long(value: number): void {
    putLong(this.bytes, value, this.at);
    this.at += 8;
  }
  text(value: string): void {
    this.int16(Buffer.byteLength(value));
    this.at += this.bytes.write(value, this.at, "utf8");
  }
  next(bytes: number): Buffer {
    this.at += bytes;
    return this.bytes.subarray(this.at - bytes, this.at);
  }
}

function encodeProduce({ acks, timeout, topicData }: ProduceArgs, free: number): Buffer {
  let bytes = 12;
  const planned = topicData.map(({ topic, partitions }) => {
    bytes += 2 + Buffer.byteLength(topic) + 4;
    const batches = partitions.map(({ partition, messages }): readonly [number, PlannedBatch] => [partition, planBatch(messages)]);
    for (const [, batch] of batches) bytes += 8 + batch.bytes;
    return { topic, batches };
  });
  const now = Date.now();
  const request = new Request(free, bytes);
  request.int16(noText);
  request.int16(acks);
  request.int32(timeout);
  request.int32(planned.length);
  for (const { topic, batches } of planned) {
    request.text(topic);
    request.int32(batches.length);
    for (const [partition, batch] of batches) {
      request.int32(partition);
      request.int32(batch.bytes);
      putBatch(batch, request.next(batch.bytes), now);
    }
  }
  return request.bytes;
}

function encodeFetch({ replicaId, maxWaitTime, minBytes, maxBytes, isolationLevel, topics }: FetchArgs, free: number): Buffer {
  const bytes = topics.reduce((sum, { topic, partitions }) => sum + 2 + Buffer.byteLength(topic) + 4 + 28 * partitions.length, 35);
  const request = new Request(free, bytes);
  request.int32(replicaId);
  request.int32(maxWaitTime);
  request.int32(minBytes);
  request.int32(maxBytes);
  request.int8(isolationLevel);
  // No session of fetches: each one names all of its partitions.
  request.int32(0);
  request.int32(noEpoch);
  request.int32(topics.length);
  for (const { topic, partitions } of topics) {
    request.text(topic);
    request.int32(partitions.length);
    for (const { partition, fetchOffset, maxBytes: partitionBytesMax } of partitions) {
      request.int32(partition);
      request.int32(noEpoch);
      request.long(fetchOffset);
      request.long(noOffset);
      request.int32(partitionBytesMax);
    }
  }
  request.int32(0);
  request.text("");
  return request.bytes;
}

class Answer {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  int16(): number {
    this.at += 2;
    return this.bytes.readInt16BE(this.at - 2);
  }
  int32(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }
  long(): number {
    this.at += 8;
    return longAt(this.bytes, this.at - 8);
  }
  take(bytes: number): Buffer {
    this.at += bytes;
    return this.bytes.subarray(this.at - bytes, this.at);
  }
  text(): string {
    return this.take(this.int16()).toString("utf8");
  }
  /** As many as the count in front says. */
  list<T>(one: () => T): T[] {
    return Array.from({ length: Math.max(0, this.int32()) }, one);
  }
}

interface Produced extends OwnAnswer {
  readonly topics: readonly { readonly topicName: string; readonly partitions: readonly { readonly partition: number; readonly errorCode: number; readonly baseOffset: number }[] }[];
}

function decodeProduce(raw: Buffer, version: number): Produced {
  const answer = new Answer(raw);
  const topics = answer.list(() => ({
    topicName: answer.text(),
    partitions: answer.list(() => {
      const part = { partition: answer.int32(), errorCode: answer.int16(), baseOffset: answer.long() };
      answer.take(version >= produceVersions.logStart ? 16 : 8);
      return part;
    }),
  }));
  const throttleMs = answer.int32();
  // Brokers before this version have waited themselves.
  return { topics, clientSideThrottleTime: version >= produceVersions.throttle ? throttleMs : 0 };
}

interface Fetched extends OwnAnswer {
  readonly errorCode: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPart[] }[];
}
interface Part extends Omit<FetchedPart, "messages" | "damage"> {
  readonly messages: ReturnType<typeof decodeBatches>;
  damage?: unknown;
}

function decodeFetch(raw: Buffer): Fetched | null | Promise<Fetched | null> {
  const answer = new Answer(raw);
  const clientSideThrottleTime = answer.int32();
  const errorCode = answer.int16();
  answer.int32();
  const responses = answer.list(() => ({ topicName: answer.text(), partitions: answer.list(() => decodePart(answer)) }));
  const parts = responses.flatMap(({ partitions }) => partitions);
  if (parts.some(({ messages }) => messages === null)) return null;
  const fetched = { clientSideThrottleTime, errorCode };
  if (!parts.some(({ messages }) => messages instanceof Promise)) return { ...fetched, responses: responses as Fetched["responses"] };
  return Promise.all(responses.map(async ({ topicName, partitions }) => ({
    topicName, partitions: await Promise.all(partitions.map(async (part) => Object.assign(part, { messages: await part.messages }))),
  }))).then((all) => (all.some(({ partitions }) => partitions.some(({ messages }) => messages === null)) ? null : { ...fetched, responses: all as Fetched["responses"] }));
}

function decodePart(answer: Answer): Part {
  const partition = answer.int32();
  const errorCode = answer.int16();
  const end = answer.long();
  const lastStableOffset = answer.long();
  answer.long();
  const aborted = answer.list(() => ({ producerId: answer.long(), firstOffset: answer.long() }));
  answer.int32();
  const part: Omit<Part, "messages"> = { partition, errorCode, lastStableOffset, end };
  const records = answer.take(Math.max(0, answer.int32()));
  // A part that cannot be read says so, and takes no other one with it.
  const tell = (damage: unknown): readonly [] => {
    part.damage = damage;
    return [];
  };
  try {
    const messages = decodeBatches(records, aborted.length === 0 ? { tell } : { tell, takenBack: new TakenBack(aborted) });
    return Object.assign(part, { messages: messages instanceof Promise ? messages.catch((error: unknown) => [...tell(error)]) : messages });
  } catch (error) {
    return Object.assign(part, { messages: [...tell(error)] });
  }
}
