/**
 * The two requests that carry records, with our own encoding and decoding in place of the client's, wherever the broker speaks a version
 * that is known here. The client's stands behind it for all others.
 */
/// <reference path="./kafkajs-internals.d.ts" />
import type { ProtocolCall } from "kafkajs/src/protocol/requests/index.js";
import { decodeBatches, encodeBatch, longAt } from "./record-batch.ts";
import type { FetchedPart, WireRecord } from "./records.ts";

/** What a Produce request is made of. */
export interface ProduceArgs {
  readonly acks: number;
  readonly timeout: number;
  readonly topicData: readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number; readonly messages: readonly WireRecord[] }[] }[];
}

/** From the first one with batches of format 2 to the last one that the client knows, they are the same. */
const produceVersions = { first: 3, last: 7 } as const;
const fetchVersion = 11;
const noText = -1;
const abortedBytes = 16;

export function withOwnEncoding(call: ProtocolCall, args: ProduceArgs): ProtocolCall {
  const { apiVersion } = call.request;
  if (apiVersion < produceVersions.first || apiVersion > produceVersions.last) return call;
  return { ...call, request: { ...call.request, encode: async () => payloadOf(args) } };
}

function payloadOf({ acks, timeout, topicData }: ProduceArgs): { readonly buf: Buffer; readonly buffer: Buffer } {
  const now = Date.now();
  const head = Buffer.alloc(12);
  head.writeInt16BE(noText, 0);
  head.writeInt16BE(acks, 2);
  head.writeInt32BE(timeout, 4);
  head.writeInt32BE(topicData.length, 8);
  const parts: Buffer[] = [head];
  for (const { topic, partitions } of topicData) {
    const name = Buffer.from(topic);
    const about = Buffer.alloc(2 + name.length + 4);
    about.writeInt16BE(name.length, 0);
    name.copy(about, 2);
    about.writeInt32BE(partitions.length, 2 + name.length);
    parts.push(about);
    for (const { partition, messages } of partitions) {
      const batch = encodeBatch(messages, now);
      const place = Buffer.alloc(8);
      place.writeInt32BE(partition, 0);
      place.writeInt32BE(batch.length, 4);
      parts.push(place, batch);
    }
  }
  const buffer = Buffer.concat(parts);
  return { buf: buffer, buffer };
}

export function withOwnDecoding(call: ProtocolCall): ProtocolCall {
  if (call.request.apiVersion !== fetchVersion) return call;
  const { decode } = call.response;
  return { ...call, response: { ...call.response, decode: async (raw) => (await decodeFetch(raw)) ?? decode(raw) } };
}

interface Fetched {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedPart[] }[];
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
}

/** Null where a batch is of an older format. */
async function decodeFetch(raw: Buffer): Promise<Fetched | null> {
  const answer = new Answer(raw);
  const clientSideThrottleTime = answer.int32();
  const errorCode = answer.int16();
  answer.int32();
  const responses: { topicName: string; partitions: FetchedPart[] }[] = [];
  for (let topics = answer.int32(); topics > 0; topics--) {
    const topicName = answer.take(answer.int16()).toString("utf8");
    const partitions: FetchedPart[] = [];
    for (let left = answer.int32(); left > 0; left--) {
      const part = await decodePart(answer);
      if (part === null) return null;
      partitions.push(part);
    }
    responses.push({ topicName, partitions });
  }
  return { clientSideThrottleTime, errorCode, responses };
}

async function decodePart(answer: Answer): Promise<FetchedPart | null> {
  const partition = answer.int32();
  const errorCode = answer.int16();
  const highWatermark = answer.long();
  answer.long();
  answer.long();
  answer.take(Math.max(0, answer.int32()) * abortedBytes);
  answer.int32();
  const messages = await decodeBatches(answer.take(Math.max(0, answer.int32())));
  return messages === null ? null : { partition, errorCode, highWatermark, messages };
}
