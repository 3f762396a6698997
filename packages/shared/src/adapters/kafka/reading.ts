/**
 * Reading the topic at exact positions, without a consumer group.
 *
 * R1. A read begins at the offset that it was given or fails with `ledger_lost`: it never jumps to what is left.
 * R2. It goes on to the end that the broker tells, and at least to what this handle has shown before, whoever leads now.
 * R3. Whole histories of a partition that are asked for while it is read through are found in one go, the next one: never in one
 *     that had begun before they were asked for.
 * R4. A history is read from where its first record may lie: what this handle, or another one before it, has read
 *     without meeting its key is not read again.
 */
import type { Offset } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import type { Clock, Landmarks, LogEntry, Positions } from "../../ports/index.ts";
import { codeMeaning, codeName } from "./broker-codes.ts";
import { toEntry } from "./entries.ts";
import { KeyIndex } from "./key-index.ts";
import { KeyLandmarks } from "./key-landmarks.ts";
import type { Link } from "./link.ts";
import { type Persistence, persist } from "./patience.ts";
import type { Topology } from "./topology.ts";
import { askOffsets, earliest, type FetchedPart, type FetchedRecord, fetchFrom, latest } from "./wire.ts";

const READS = "reads";
/** A broker that has nothing yet of what was shown before is asked again; it may wait a little itself. */
const LAG_WAIT_MS = 100;
const PIECE_BYTES = 4 << 20;
const SMALL_PIECE_BYTES = 64 << 10;
const SMALL_LIMIT = 20;

/** How far this handle has shown the log to anybody: the next offset of each partition. */
export class Shown {
  readonly #next = new Map<number, number>();

  note(partition: number, next: number): void {
    if (next > this.of(partition)) this.#next.set(partition, next);
  }

  of(partition: number): number {
    return this.#next.get(partition) ?? 0;
  }
}

export interface ReadingOptions {
  readonly topology: Topology;
  readonly clock: Clock;
  readonly shown: Shown;
  /** Whether the topic still is the ledger that was opened; asked after every failure. */
  readonly check: (partition: number) => Promise<void>;
  /** Where to find and to leave what is known of the keys of the ledger. */
  readonly landmarks?: { readonly store: Landmarks; readonly ledgerId: () => string } | undefined;
}

/** Histories that are looked for in one reading of a partition. */
interface Search {
  readonly wanted: Map<string, LogEntry[]>;
  readonly over: Promise<void>;
}

interface Piece {
  readonly from: number;
  readonly bytesMax: number;
  readonly maxWaitMs: number;
}

export class Reading {
  /** Of what was read here; whoever reads the partition otherwise adds to it. */
  readonly keys = new KeyIndex();
  readonly #topology: Topology;
  readonly #shown: Shown;
  readonly #options: ReadingOptions;
  /** Of each partition the search that has not begun yet, and the last one that has. */
  readonly #next = new Map<number, Search>();
  readonly #last = new Map<number, Promise<void>>();
  readonly #landmarks: KeyLandmarks | null;

  constructor(options: ReadingOptions) {
    this.#options = options;
    const entryAt = async (partition: number, offset: number): Promise<LogEntry | undefined> => (await this.entries(partition, offset, 1))[0];
    this.#landmarks = options.landmarks ? new KeyLandmarks({ ...options.landmarks, keys: this.keys, entryAt }) : null;
    this.#topology = options.topology;
    this.#shown = options.shown;
  }

  async close(): Promise<void> {
    await this.#landmarks?.close();
  }

  /** Entries from `from` in order, at most `limit`. */
  async entries(partition: number, from: number, limit: number): Promise<readonly LogEntry[]> {
    const entries: LogEntry[] = [];
    const bytesMax = limit <= SMALL_LIMIT ? SMALL_PIECE_BYTES : PIECE_BYTES;
    if (limit <= 0) return entries;
    await this.#walk(partition, { from, bytesMax }, (record) => {
      const entry = toEntry(partition, record);
      if (entry !== null) entries.push(entry);
      return entries.length < limit;
    });
    return entries;
  }

  /** Entries of one key from `from` in order, to the end. */
  async entriesOf(partition: number, key: string, from: number): Promise<readonly LogEntry[]> {
    if (from === 0) return this.#history(partition, key);
    const bytes = Buffer.from(key);
    const entries: LogEntry[] = [];
    await this.#walk(partition, { from, bytesMax: PIECE_BYTES }, (record) => {
      const entry = record.key !== null && bytes.equals(record.key) ? toEntry(partition, record) : null;
      if (entry !== null) entries.push(entry);
      return true;
    });
    return entries;
  }

  async #history(partition: number, key: string): Promise<readonly LogEntry[]> {
    const search = this.#next.get(partition) ?? this.#searchNext(partition);
    const found = search.wanted.get(key) ?? [];
    search.wanted.set(key, found);
    await search.over;
    return found;
  }

  #searchNext(partition: number): Search {
    const wanted = new Map<string, LogEntry[]>();
    const before = this.#last.get(partition) ?? Promise.resolve();
    const over = before.catch(() => undefined).then(() => this.#landmarks?.prepare(partition)).then(() => {
      this.#next.delete(partition);
      const from = Math.min(...[...wanted.keys()].map((key) => this.keys.from(partition, key)));
      return this.#walk(partition, { from, bytesMax: PIECE_BYTES }, (record) => {
        const found = record.key === null ? undefined : wanted.get(record.key.toString("utf8"));
        const entry = found === undefined ? null : toEntry(partition, record);
        if (entry !== null) found?.push(entry);
        return true;
      });
    }).then(() => this.#landmarks?.keep(partition));
    const search = { wanted, over };
    this.#next.set(partition, search);
    this.#last.set(partition, over);
    return search;
  }

  /**
   * The offset after the last record of each partition. One before what was shown comes from a leader that has just taken over,
   * or from a log that has lost records or is another one: then `ledger_lost`.
   */
  async ends(partitions: readonly number[]): Promise<ReadonlyMap<number, Offset>> {
    const ends = await this.#offsets(partitions, latest);
    for (const [partition, end] of ends) {
      const shown = this.#shown.of(partition);
      if (end < shown) {
        await this.confirm(partition);
        await this.#probe(partition, shown);
      }
      this.#shown.note(partition, end);
    }
    return new Map(partitions.map((partition) => [partition, this.#shown.of(partition) as Offset]));
  }

  /** Throws `ledger_lost` where a reader cannot begin at one of the positions. */
  async checkPositions(from: Positions): Promise<void> {
    const partitions = [...from.keys()];
    const [starts, ends] = await Promise.all([this.#offsets(partitions, earliest), this.#offsets(partitions, latest)]);
    for (const [partition, offset] of from) {
      if (offset < (starts.get(partition) ?? 0) || offset > (ends.get(partition) ?? 0)) await this.#probe(partition, offset);
      this.#shown.note(partition, offset);
    }
  }

  /** Throws `ledger_lost` where the partition no longer belongs to the ledger that was opened. */
  async confirm(partition: number): Promise<void> {
    await persist(() => this.#options.check(partition), this.#persistence(partition));
  }

  /** A leader that has just taken over may tell an end before what others have read; whether the offset is there it knows. */
  async #probe(partition: number, from: number): Promise<void> {
    await persist(() => this.piece(partition, { from, bytesMax: 1, maxWaitMs: 0 }), this.#persistence(partition));
  }

  #persistence(partition: number): Persistence {
    const { topology, clock, check } = this.#options;
    return { topology, clock, patienceMs: topology.limits.readMs, check: () => check(partition) };
  }

  #offsets(partitions: readonly number[], which: number): Promise<ReadonlyMap<number, number>> {
    return persist(() => this.#askOffsets(partitions, which), this.#persistence(partitions[0] ?? 0));
  }

  /** What one request gives; throws `ledger_lost` for an offset that the log does not have, other errors for another try. */
  async piece(partition: number, { from, bytesMax, maxWaitMs }: Piece): Promise<FetchedPart> {
    const leader = this.#topology.leaderOf(partition);
    if (leader === null) throw new Error(`Partition ${partition} of ${this.#topology.topic} has no leader.`);
    const link = await this.#topology.link(leader, READS);
    const order = { topic: this.#topology.topic, positions: new Map([[partition, from]]), maxWaitMs, partitionBytesMax: bytesMax };
    const part = (await fetchFrom(link, order)).find((one) => one.partition === partition);
    if (part === undefined) throw new Error(`The broker's answer says nothing of partition ${partition}.`);
    await checkPart(part, { link, topic: this.#topology.topic, from });
    return part;
  }

  async #walk(partition: number, { from, bytesMax }: Omit<Piece, "maxWaitMs">, visit: (record: FetchedRecord) => boolean): Promise<void> {
    let next = from;
    let maxWaitMs = 0;
    const least = this.#shown.of(partition);
    for (;;) {
      const part = await persist(() => this.piece(partition, { from: next, bytesMax, maxWaitMs }), this.#persistence(partition));
      const start = next;
      for (const record of part.messages) {
        const offset = Number(record.offset);
        if (offset < next) continue;
        next = offset + 1;
        this.#shown.note(partition, next);
        if (record.key !== null && !record.isNoRecord) this.keys.note(partition, record.key.toString("utf8"), offset);
        if (!visit(record)) return;
      }
      this.keys.cover(partition, { from: start, to: next });
      if (next >= Math.max(Number(part.lastStableOffset), least)) return;
      maxWaitMs = next === start ? LAG_WAIT_MS : 0;
    }
  }

  async #askOffsets(partitions: readonly number[], which: number): Promise<ReadonlyMap<number, number>> {
    const groups = [...this.#topology.byLeader(partitions)];
    const answers = await Promise.all(groups.map(async ([leader, group]) => {
      if (leader === null) throw new Error(`Partitions ${group.join(", ")} of ${this.#topology.topic} have no leader.`);
      const link = await this.#topology.link(leader, READS);
      return askOffsets(link, this.#topology.topic, { partitions: group, which });
    }));
    const parts = answers.flat();
    const failed = parts.find(({ errorCode }) => errorCode !== 0);
    if (failed !== undefined) throw new Error(`Partition ${failed.partition}: ${codeName(failed.errorCode)}.`);
    const offsets = new Map(parts.map(({ partition, offset }) => [partition, Number(offset)]));
    for (const partition of partitions) if (!offsets.has(partition)) throw new Error(`The brokers' answers say nothing of partition ${partition}.`);
    return offsets;
  }
}

/** Throws where a part of a fetch is not what was asked for. */
export async function checkPart(part: FetchedPart, { link, topic, from }: { link: Link; topic: string; from: number }): Promise<void> {
  if (part.damage !== undefined && !part.messages.some(({ offset }) => Number(offset) >= from)) throw part.damage;
  if (part.errorCode === 0) return;
  switch (codeMeaning(part.errorCode)) {
    case "out_of_range":
      throw await lost(link, { topic, partition: part.partition, from });
    case "refused":
      throw new LoopledgerError("ledger_unreachable", `Partition ${part.partition} of ${topic} cannot be read: ${codeName(part.errorCode)}.`, {
        next: "Give this principal READ and DESCRIBE on the topic, or see what the broker's log says.",
      });
    case "again": case "no_topic": case "too_large": case "bad_record":
      throw new Error(`Partition ${part.partition}: ${codeName(part.errorCode)}.`);
  }
}

async function lost(link: Link, { topic, partition, from }: { topic: string; partition: number; from: number }): Promise<Error> {
  const [first] = await askOffsets(link, topic, { partitions: [partition], which: earliest });
  const [last] = await askOffsets(link, topic, { partitions: [partition], which: latest });
  if (first === undefined || last === undefined || first.errorCode !== 0 || last.errorCode !== 0) {
    return new Error(`Partition ${partition}: the broker does not say from where to where it goes.`);
  }
  const [start, end] = [Number(first.offset), Number(last.offset)];
  if (from >= start && from <= end) return new Error(`Partition ${partition}: offset ${from} was refused, and is there.`);
  const what = from < start
    ? `begins at ${start} now: the ${start - from} records from ${from} on were removed`
    : `ends at ${end} now, and ${from} was read or told before`;
  return new LoopledgerError("ledger_lost", `Partition ${partition} of ${topic} ${what}.`);
}
