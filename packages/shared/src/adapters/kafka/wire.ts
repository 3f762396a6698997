/** The five requests of the protocol that the ledger needs, and their answers with one error code a partition. */
import { type ClientPart, partOf } from "./client-part.ts";
import type { Link } from "./link.ts";
import type { FetchedPart, WireRecord } from "./records.ts";

export type { FetchedPart, FetchedRecord, WireRecord } from "./records.ts";

export interface MetadataAnswer {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number; readonly partitionId: number; readonly leader: number }[];
  }[];
}
export interface ProducedPart {
  readonly partition: number;
  readonly errorCode: number;
  readonly baseOffset: number | string;
}
interface OffsetPart {
  readonly partition: number;
  readonly errorCode: number;
  readonly offset: string;
}
export interface PartitionEnd {
  /** Up to here it may be read: before the first transaction that is not over. */
  readonly stable: number;
  readonly end: number;
}
interface OffsetsWanted {
  readonly partitions: readonly number[];
  readonly which: number;
  readonly isolation?: number;
}
export interface FetchOrder {
  readonly topic: string;
  readonly positions: ReadonlyMap<number, number>;
  /** How long the broker may wait where there is nothing to give; 0 answers at once. */
  readonly maxWaitMs: number;
  readonly partitionBytesMax: number;
}

/** Deadlines of ours; a broker that is slower than that is taken for stopped. */
const ANSWER_MS = 8_000;
const PRODUCE_MS = 8_000;
/** How long a broker may wait for its followers. */
const REPLICATE_MS = 6_000;
const FETCH_BYTES_MAX = 16 << 20;
/** Consumers that are no followers name themselves so. */
const NO_REPLICA = -1;
/** What is part of a transaction counts when that is made good, and what lies behind it is not told before. */
const READ_COMMITTED = 1;
const READ_UNCOMMITTED = 0;
const NO_PRODUCER = undefined;
const ALL_IN_SYNC = -1;
export const latest = -1;
export const earliest = -2;

export async function askMetadata(link: Link, topic: string): Promise<MetadataAnswer> {
  return (await link.request("Metadata", { topics: [topic], allowAutoTopicCreation: false }, ANSWER_MS)) as MetadataAnswer;
}

/** Writes one record batch a partition; every batch is in its partition whole or not at all. */
export async function produce(link: Link, topic: string, batches: ReadonlyMap<number, readonly WireRecord[]>): Promise<readonly ProducedPart[]> {
  const partitions = [...batches].map(([partition, messages]) => ({ partition, messages, firstSequence: 0 }));
  const args = {
    acks: ALL_IN_SYNC, timeout: REPLICATE_MS, compression: 0, transactionalId: null, producerId: NO_PRODUCER, producerEpoch: 0,
    topicData: [{ topic, partitions }],
  };
  const answer = (await link.request("Produce", args, PRODUCE_MS)) as { topics: readonly { topicName: string; partitions: readonly ProducedPart[] }[] };
  return answer.topics.filter(({ topicName }) => topicName === topic).flatMap(({ partitions: parts }) => parts);
}

export async function fetchFrom(link: Link, order: FetchOrder): Promise<readonly FetchedPart[]> {
  const { topic, positions, maxWaitMs, partitionBytesMax } = order;
  const partitions = [...positions].map(([partition, offset]) => ({ partition, fetchOffset: offset, maxBytes: partitionBytesMax }));
  const args = {
    replicaId: NO_REPLICA, isolationLevel: READ_COMMITTED, maxWaitTime: maxWaitMs, minBytes: 1, maxBytes: FETCH_BYTES_MAX,
    topics: [{ topic, partitions }], rackId: "",
  };
  const answer = (await link.request("Fetch", args, maxWaitMs + ANSWER_MS)) as {
    errorCode?: number; responses: readonly { topicName: string; partitions: readonly (FetchedPart | ClientPart)[] }[];
  };
  return answer.responses.filter(({ topicName }) => topicName === topic).flatMap(({ partitions: parts }) => parts.map(partOf));
}

/** The offset after the last record that may be read (`latest`), or the first that is there (`earliest`). */
export async function askOffsets(link: Link, topic: string, want: OffsetsWanted): Promise<readonly OffsetPart[]> {
  const partitions = want.partitions.map((partition) => ({ partition, timestamp: want.which }));
  const args = { replicaId: NO_REPLICA, isolationLevel: want.isolation ?? READ_COMMITTED, topics: [{ topic, partitions }] };
  const answer = (await link.request("ListOffsets", args, ANSWER_MS)) as { responses: readonly { partitions: readonly OffsetPart[] }[] };
  return answer.responses.flatMap(({ partitions: parts }) => parts);
}

/** Up to where each partition may be read, and where it ends. Asked in this order: what is written in between makes a gap that is none, and never hides one. */
export async function askEnds(link: Link, topic: string, partitions: readonly number[]): Promise<readonly (PartitionEnd & { readonly partition: number; readonly errorCode: number })[]> {
  const stable = await askOffsets(link, topic, { partitions, which: latest });
  const whole = new Map((await askOffsets(link, topic, { partitions, which: latest, isolation: READ_UNCOMMITTED })).map((part) => [part.partition, part]));
  return stable.map(({ partition, errorCode, offset }) => {
    const end = whole.get(partition);
    return { partition, errorCode: errorCode || (end?.errorCode ?? 0), stable: Number(offset), end: Number(end?.offset ?? offset) };
  });
}
