/**
 * Where a session is at home, reckoned by the audit's own hand: the partition that Kafka's Java client gives its key, among as many as
 * the ledger says of itself that it has. Everything else of that key is a stray: whoever reads the session never comes across it.
 */
import { parseRecord } from "@loopledger/shared/core/events/parse";
import type { Entry } from "./session.ts";

const multiplier = 0x5bd1e995;
const seed = 0x9747b28c;

/** murmur2 over the key's UTF-8 bytes, four little-endian bytes at a time, as an unsigned number of 32 bits. */
export function murmur2(key: string): number {
  const bytes = Buffer.from(key, "utf8");
  const tail = bytes.length % 4;
  let hash = seed ^ bytes.length;
  for (let at = 0; at < bytes.length - tail; at += 4) {
    const mixed = Math.imul(bytes.readInt32LE(at), multiplier);
    hash = Math.imul(hash, multiplier) ^ Math.imul(mixed ^ (mixed >>> 24), multiplier);
  }
  if (tail > 0) hash = Math.imul(hash ^ bytes.readUIntLE(bytes.length - tail, tail), multiplier);
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return (hash ^ (hash >>> 15)) >>> 0;
}
/** The hash's sign is dropped, not negated. */
export function placeOfKey(key: string, partitions: number): number {
  return (murmur2(key) % 0x80000000) % partitions;
}

/** How many partitions the ledger has by its own first words; null where the dump does not hold them, as that of a single session. */
export function partitionsOf(entries: readonly Entry[]): number | null {
  let first: { readonly entry: Entry; readonly partitions: number } | null = null;
  for (const entry of entries) {
    if (entry.key !== `_ledger/${entry.partition}` || (first && !comesBefore(entry, first.entry))) continue;
    const parsed = parseRecord(entry.text);
    if (parsed.kind === "record" && parsed.record.type === "ledger_initialised") first = { entry, partitions: parsed.record.data.partitions };
  }
  return first?.partitions ?? null;
}
function comesBefore(one: Entry, other: Entry): boolean {
  return one.partition === other.partition ? one.offset < other.offset : one.partition < other.partition;
}

/** Whether a session could begin with this entry. */
export type Begins = (entry: Entry) => boolean;

/**
 * The home of a session of which these are all entries. Where nobody says how many partitions there are, it is the partition in which the
 * session began first by the log's time, and among equals the lowest; null where it began in none.
 */
export function homeOf(entries: readonly Entry[], { partitions, begins }: { readonly partitions: number | null; readonly begins: Begins }): number | null {
  const key = entries[0]?.key ?? null;
  if (partitions !== null) return key === null ? null : placeOfKey(key, partitions);
  let home: Entry | null = null;
  for (const list of Map.groupBy(inLogOrder(entries, null), ({ partition }) => partition).values()) {
    const start = list.find(begins);
    if (start && (home === null || start.time < home.time || (start.time === home.time && start.partition < home.partition))) home = start;
  }
  return home?.partition ?? null;
}

/**
 * The entries of one session in an order that does not depend on that of the dump: within a partition by offset, between partitions by time,
 * at one time those at home first. A partition's time that falls counts as the highest before it.
 */
export function inLogOrder(entries: readonly Entry[], home: number | null): readonly Entry[] {
  const timed = [...Map.groupBy(entries, ({ partition }) => partition).values()].flatMap((list) => {
    let at = Number.NEGATIVE_INFINITY;
    return list.toSorted((a, b) => a.offset - b.offset).map((entry) => {
      at = Math.max(at, entry.time);
      return { entry, at };
    });
  });
  const rank = ({ partition }: Entry): number => (partition === home ? -1 : partition);
  return timed.sort((a, b) => a.at - b.at || rank(a.entry) - rank(b.entry) || a.entry.offset - b.entry.offset).map(({ entry }) => entry);
}
