/**
 * A topic read from its beginning to where it ends, for topics that are looked through and not followed.
 *
 * L1. It begins at what is left where retention has taken the beginning away: nobody relies on what is gone.
 * L2. It goes on to the ends that the brokers told when it began.
 */
import { LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import { registerCodecs } from "./codecs.ts";
import type { KafkaConnection } from "./connection.ts";
import { meetTopic, persist } from "./patience.ts";
import { Reading, Shown } from "./reading.ts";
import { Topology } from "./topology.ts";
import { askOffsets, earliest, type FetchedRecord } from "./wire.ts";

export interface TopicLogOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly clock: Clock;
  /** How far the topic is known to go, by whoever else reads or writes it: one that ends before that is another one, and `ledger_lost`. */
  readonly shown?: Shown;
}

export type Visit = (record: FetchedRecord) => void;

const PIECE_BYTES = 4 << 20;
const READS = "reads";

export class TopicLog {
  readonly #topology: Topology;
  readonly #clock: Clock;
  readonly #reading: Reading;

  private constructor(topology: Topology, clock: Clock, shown: Shown) {
    this.#topology = topology;
    this.#clock = clock;
    this.#reading = new Reading({ topology, clock, shown, check: async () => undefined });
  }

  /** Throws `ledger_unreachable` where no broker answers or the topic is not there. */
  static async open({ connection, topic, clock, shown = new Shown() }: TopicLogOptions): Promise<TopicLog> {
    registerCodecs();
    const topology = new Topology({ connection, topic, clock, isLedger: false });
    try {
      await meetTopic(topology, clock);
    } catch (error) {
      topology.close();
      throw error;
    }
    return new TopicLog(topology, clock, shown);
  }

  /** Visits what there is, or of each partition what begins at `from` (default: its beginning) or is among its last `lastMax` offsets. Gives where it ended. */
  async walk(visit: Visit, { from, lastMax = Number.POSITIVE_INFINITY }: { readonly from?: ReadonlyMap<number, number> | undefined; readonly lastMax?: number } = {}): Promise<ReadonlyMap<number, number>> {
    const partitions = Array.from({ length: this.#topology.partitions }, (_, partition) => partition);
    const ends = await this.#reading.ends(partitions);
    const starts = await this.#starts(partitions);
    for (const [partition, end] of ends) {
      const first = Math.max(starts.get(partition) ?? 0, from?.get(partition) ?? 0, end - lastMax);
      if (first < end) await this.#walkOne(partition, { first, end, visit });
    }
    return ends;
  }

  close(): void {
    this.#topology.close();
  }

  async #walkOne(partition: number, { first, end, visit }: { readonly first: number; readonly end: number; readonly visit: Visit }): Promise<void> {
    for (let next = first; next < end; ) {
      const at = next;
      const part = await this.#persist(() => this.#reading.piece(partition, { from: at, bytesMax: PIECE_BYTES, maxWaitMs: 0 }));
      for (const record of part.messages) {
        const offset = Number(record.offset);
        if (offset < next || offset >= end) continue;
        next = offset + 1;
        if (!record.isNoRecord) visit(record);
      }
      // Offsets without a record behind them stand at the end of what a transaction left.
      if (next === at) return;
    }
  }

  #starts(partitions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.#persist(async () => {
      const answers = await Promise.all([...this.#topology.byLeader(partitions)].map(async ([leader, group]) => {
        if (leader === null) throw new Error(`Partitions ${group.join(", ")} of ${this.#topology.topic} have no leader.`);
        return askOffsets(await this.#topology.link(leader, READS), this.#topology.topic, { partitions: group, which: earliest });
      }));
      const failed = answers.flat().find(({ errorCode }) => errorCode !== 0);
      if (failed !== undefined) throw new Error(`Partition ${failed.partition} of ${this.#topology.topic}: error ${failed.errorCode}.`);
      return new Map(answers.flat().map(({ partition, offset }) => [partition, Number(offset)]));
    });
  }

  #persist<T>(attempt: () => Promise<T>): Promise<T> {
    const check = async (): Promise<void> => undefined;
    return persist(attempt, { topology: this.#topology, clock: this.#clock, patienceMs: this.#topology.limits.readMs, check });
  }
}

/** A connection of its own, opened when it is first needed, and anew after a failure. */
export class Lazily<T> {
  readonly #open: () => Promise<T>;
  readonly #close: (opened: T) => void | Promise<void>;
  #opened: Promise<T> | null = null;
  #isClosed = false;

  constructor(open: () => Promise<T>, close: (opened: T) => void | Promise<void>) {
    this.#open = open;
    this.#close = close;
  }

  get(): Promise<T> {
    if (this.#isClosed) return Promise.reject(new LoopledgerError("ledger_closed", "The connection is closed."));
    if (this.#opened === null) {
      const opening = this.#open();
      this.#opened = opening;
      opening.catch(() => this.#drop(opening));
    }
    return this.#opened;
  }
  /** Runs something on it; after a failure the next one gets a new connection. */
  async use<R>(work: (opened: T) => Promise<R>): Promise<R> {
    const opening = this.get();
    try {
      return await work(await opening);
    } catch (error) {
      if (this.#drop(opening)) await opening.then(this.#close, () => undefined);
      throw error;
    }
  }
  /** The next one gets a new connection. */
  async renew(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await opened?.then(this.#close, () => undefined);
  }
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.renew();
  }

  #drop(opening: Promise<T>): boolean {
    if (this.#opened !== opening) return false;
    this.#opened = null;
    return true;
  }
}
