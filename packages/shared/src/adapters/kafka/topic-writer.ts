/**
 * A writer of raw records to a topic that is not the ledger: dead letters, status, goals. It sends as the ledger does: acknowledged
 * by all replicas in sync, each part of an answer looked at, what is missing sent again.
 */
import { LoopledgerError } from "../../core/errors.ts";
import { partitionOf } from "../../core/placement.ts";
import type { Clock, Ids } from "../../ports/index.ts";
import { Appender } from "./appender.ts";
import type { KafkaConnection } from "./connection.ts";
import { sizeOf } from "./entries.ts";
import { meetTopic, unreachable } from "./patience.ts";
import { Shown } from "./reading.ts";
import { Topology } from "./topology.ts";
import type { WireRecord } from "./wire.ts";

export interface RawRecord {
  /** Keys go where every client looks for them; records without one are spread. */
  readonly key: string | Uint8Array | null;
  /** null is a tombstone: on a compacted topic it takes the key away. */
  readonly value: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /** More of the same names, which stand before those of `headers`. */
  readonly repeats?: Readonly<Record<string, readonly Uint8Array[]>> | undefined;
}

export interface TopicWriterOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How far the topic is known to go; what is acknowledged is noted. A record that goes to a place before it is `ledger_lost`: the topic is another one. */
  readonly shown?: Shown | undefined;
  /** Told when an outage begins. */
  readonly log?: ((error: unknown) => void) | undefined;
}

export interface TopicWriter {
  readonly partitions: number;
  /**
   * Fulfilled when every record is as durable as the topic's settings make it. Records of one key keep their order. After a lost
   * answer a record may be there twice. Throws `ledger_unreachable`, `ledger_read_only`, `batch_too_large`, `ledger_lost`.
   */
  write(records: readonly RawRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** Throws `ledger_unreachable` where no broker answers or the topic is not there. */
export async function openTopicWriter({ connection, topic, clock, ids, log, shown = new Shown() }: TopicWriterOptions): Promise<TopicWriter> {
  const topology = new Topology({ connection, topic, clock, isLedger: false });
  try {
    await meetTopic(topology, clock);
  } catch (error) {
    topology.close();
    throw error;
  }
  const { partitions } = topology;
  const appender = new Appender({
    topology, clock, shown, written: (partition, next) => shown.note(partition, next), check: async () => undefined, lost: (error) => log?.(error), troubled: (error) => log?.(unreachable(topology, error)),
  }, partitions);
  let isClosed = false;
  return {
    partitions,
    write: async (records) => {
      if (isClosed) throw new LoopledgerError("ledger_closed", `The writer of ${topic} is closed.`);
      await Promise.all(records.map((record) => {
        const sent = toWire(record);
        return appender.add(placeOf(record.key, partitions, ids), [sent], sizeOf(sent));
      }));
    },
    close: async () => {
      isClosed = true;
      await appender.close();
      topology.close();
    },
  };
}

/** The client's encoder knows text and Node's own byte arrays only. */
function toWire({ key, value, headers = {}, repeats = {} }: RawRecord): WireRecord {
  const content = <T extends string | Uint8Array | null>(part: T): T | Buffer => (part instanceof Uint8Array ? Buffer.from(part.buffer, part.byteOffset, part.byteLength) : part);
  const named = Object.entries(headers).map(([name, part]) => {
    const before = Object.hasOwn(repeats, name) ? repeats[name] : undefined;
    return [name, before === undefined ? content(part) : [...before, typeof part === "string" ? Buffer.from(part) : part].map(content)] as const;
  });
  return { key: content(key), value: content(value), headers: Object.fromEntries(named) };
}

function placeOf(key: RawRecord["key"], partitions: number, ids: Ids): number {
  if (key === null) return Math.floor(ids.random() * partitions);
  return partitionOf(typeof key === "string" ? key : Buffer.from(key).toString("utf8"), partitions);
}
