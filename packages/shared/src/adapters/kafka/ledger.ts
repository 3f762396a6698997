/** The ledger on one topic of a Kafka cluster. */
import type { Offset, SessionId } from "../../core/brand.ts";
import { isLoopledgerError, type LoopledgerError } from "../../core/errors.ts";
import { isWholeText } from "../../core/json.ts";
import { ledgerKey, partitionOf } from "../../core/placement.ts";
import type { Clock, Ids, Landmarks, Ledger, LogEntry, Positions, Schemas, Subscription } from "../../ports/index.ts";
import { Appender } from "./appender.ts";
import { registerCodecs } from "./codecs.ts";
import type { KafkaConnection } from "./connection.ts";
import { sizeOf, toRecord } from "./entries.ts";
import { HeldUp } from "./held-up.ts";
import { afterOtherCount, establishIdentity, type Identity, partitionsAtBeginning } from "./identity.ts";
import { isClosedError, meetTopic, unreachable } from "./patience.ts";
import { Reading, Shown } from "./reading.ts";
import { LedgerSubscription } from "./subscription.ts";
import { Topology } from "./topology.ts";
import type { WireRecord } from "./wire.ts";

export interface KafkaLedgerOptions {
  readonly connection: KafkaConnection;
  /** The ledger's topic is `<prefix>.ledger`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Puts records into the registry's wire format; without it they are plain JSON. Readers take both. */
  readonly schemas?: Schemas | undefined;
  /** Where what is known of the topic's keys is kept from process to process; closed with the ledger. */
  readonly landmarks?: Landmarks | undefined;
  /** Told what went wrong where no caller is waiting for an answer. */
  readonly log?: ((error: unknown) => void) | undefined;
}

export function ledgerTopic(prefix: string): string {
  return `${prefix}.ledger`;
}

/**
 * Opens the ledger of a topic, and begins one where the topic is empty. Throws `ledger_unreachable` where no broker answers or the
 * topic is not there, `ledger_mismatch` where it has another number of partitions than it was begun with, `ledger_lost` where
 * its beginning is gone.
 */
export async function openKafkaLedger(options: KafkaLedgerOptions): Promise<Ledger> {
  const { connection, clock, prefix } = options;
  registerCodecs();
  const topology = new Topology({ connection, clock, topic: ledgerTopic(prefix), isLedger: true });
  try {
    await meetTopic(topology, clock);
    const ledger = new KafkaLedger(topology, options);
    await ledger.begin();
    return ledger;
  } catch (error) {
    topology.close();
    throw error;
  }
}

/**
 * Whether the topic has the number of partitions that its ledger was begun with; true for one that was not begun. Writes nothing.
 * Throws `ledger_unreachable` where it cannot be read.
 */
export async function lookAtPartitions({ connection, clock, prefix }: Pick<KafkaLedgerOptions, "connection" | "clock" | "prefix">): Promise<{ readonly ok: boolean; readonly detail: string; readonly fix: string }> {
  registerCodecs();
  const topology = new Topology({ connection, clock, topic: ledgerTopic(prefix), isLedger: true });
  try {
    await meetTopic(topology, clock);
    const begun = await partitionsAtBeginning(new Reading({ topology, clock, shown: new Shown(), check: () => Promise.resolve() }));
    const { partitions } = topology;
    return { ok: begun === null || begun === partitions, detail: `${partitions} partitions, and the ledger was begun with ${begun ?? "none so far"}`, fix: afterOtherCount(begun ?? partitions) };
  } finally {
    topology.close();
  }
}

class KafkaLedger implements Ledger {
  readonly partitions: number;
  readonly #options: KafkaLedgerOptions;
  readonly #topology: Topology;
  readonly #shown = new Shown();
  readonly #reading: Reading;
  readonly #appender: Appender;
  readonly #held: HeldUp;
  readonly #subscriptions = new Set<LedgerSubscription>();
  #identity: Identity | null = null;
  #broken: LoopledgerError | null = null;
  /** The last encoding that was asked for: records are queued in the order of the calls, however long one takes. */
  #encoded: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isTroubled = false;
  #names = 0;

  constructor(topology: Topology, options: KafkaLedgerOptions) {
    const { clock, connection, landmarks: store, log } = options;
    const shown = this.#shown;
    this.#options = options;
    this.#topology = topology;
    this.partitions = topology.partitions;
    this.#held = new HeldUp({ connection, topic: topology.topic, clock, tell: (error) => log?.(error) });
    this.#reading = new Reading({ topology, clock, shown, check: this.#check, landmarks: store && { store, ledgerId: () => this.ledgerId } });
    // Reads that go on end no outage of those who write.
    const troubled = (error: unknown): void => {
      if (!this.#isClosed) log?.(unreachable(topology, error));
    };
    // Acknowledged is as good as shown: who appended and then reads is to find it, also where it stands behind a transaction that is not over.
    const written = (partition: number, next: number): void => shown.note(partition, next);
    this.#appender = new Appender({ topology, clock, shown, written, check: this.#check, lost: this.#lose, troubled }, this.partitions);
  }

  get ledgerId(): string {
    return this.#identity?.ledgerId ?? "";
  }

  /** Finds out which ledger this is; nothing else may be asked before. */
  async begin(): Promise<void> {
    const { clock, ids } = this.#options;
    this.#identity = await establishIdentity({
      topic: this.#topology.topic, partitions: this.partitions, reading: this.#reading, clock, ids,
      write: async (partition, { ledgerId, text }) => this.#write(partition, ledgerKey(partition), { ledgerId, values: [text] }),
    });
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.partitions);
  }

  async append(sessionId: SessionId, values: readonly string[]): Promise<void> {
    this.#checkUsable();
    if (!values.every(isWholeText)) throw new RangeError("A record holds half a character or a NUL.");
    if (values.length > 0) await this.#write(this.partitionOf(sessionId), sessionId, { ledgerId: this.ledgerId, values });
  }

  async read(partition: number, from: Offset, limit: number): Promise<readonly LogEntry[]> {
    this.#checkUsable();
    return this.#reading.entries(partition, from, limit);
  }

  async readSession(sessionId: SessionId, from?: Offset): Promise<readonly LogEntry[]> {
    this.#checkUsable();
    return this.#reading.entriesOf(this.partitionOf(sessionId), sessionId, from ?? 0);
  }

  /** Whoever asks where the ledger ends is about to rely on it: that the topic is the same one still is looked up too. */
  async end(): Promise<Positions> {
    this.#checkUsable();
    const [ends] = await this.#orLose(Promise.all([this.#reading.ends(this.#all()), this.#reading.confirm(0)]));
    return ends;
  }

  async subscribe(from: Positions, listener: (entries: readonly LogEntry[]) => void): Promise<Subscription> {
    this.#checkUsable();
    await this.#reading.checkPositions(from);
    this.#checkUsable();
    const { clock } = this.#options;
    this.#names += 1;
    const subscription = new LedgerSubscription({
      topology: this.#topology, clock, shown: this.#shown, keys: this.#reading.keys, held: this.#held, name: `subscription-${this.#names}`, from, listener,
      flushed: () => this.#flushed(), ends: (partitions) => this.#orLose(this.#reading.ends(partitions)), check: this.#check,
      lost: this.#lose, troubled: this.#trouble, healthy: this.#heal, threw: (error) => this.#options.log?.(error), closed: (one) => this.#subscriptions.delete(one),
    });
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#encoded;
    await this.#appender.close();
    for (const subscription of [...this.#subscriptions]) await subscription.close();
    await this.#reading.close();
    this.#topology.close();
  }

  readonly #check = async (partition: number): Promise<void> => this.#identity?.check(partition);

  readonly #lose = (error: LoopledgerError): void => {
    if (this.#broken !== null || this.#isClosed) return;
    this.#broken = error;
    this.#options.log?.(error);
    this.#appender.fail(error);
    for (const subscription of [...this.#subscriptions]) subscription.end(error);
  };

  /** What finds the ledger lost while nobody has named a position stops everybody. */
  async #orLose<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (isLoopledgerError(error, "ledger_lost")) this.#lose(error);
      throw error;
    }
  }

  /** An outage of those who read is told once, when it begins. */
  readonly #trouble = (error: unknown): void => {
    if (this.#isTroubled || this.#isClosed) return;
    this.#isTroubled = true;
    this.#options.log?.(unreachable(this.#topology, error));
  };

  readonly #heal = (): void => {
    this.#isTroubled = false;
  };

  async #write(partition: number, key: string, { ledgerId, values }: { ledgerId: string; values: readonly string[] }): Promise<void> {
    const { schemas } = this.#options;
    if (schemas === undefined) return this.#queue(partition, values.map((text) => toRecord(key, text, { ledgerId })));
    const encoding = Promise.all(values.map((text) => schemas.encode(this.#topology.topic, text)));
    const before = this.#encoded;
    const queued = before.then(async () => {
      const bytes = await encoding;
      return { written: this.#queue(partition, values.map((text, i) => toRecord(key, text, { ledgerId, bytes: bytes[i] }))) };
    });
    this.#encoded = queued.catch(() => undefined);
    await (await queued).written;
  }

  #queue(partition: number, records: readonly WireRecord[]): Promise<void> {
    return this.#appender.add(partition, records, records.reduce((sum, record) => sum + sizeOf(record), 0));
  }

  async #flushed(): Promise<void> {
    await this.#encoded;
    await this.#appender.idle();
  }

  #all(): readonly number[] {
    return Array.from({ length: this.partitions }, (_, partition) => partition);
  }

  #checkUsable(): void {
    if (this.#isClosed) throw isClosedError();
    if (this.#broken !== null) throw this.#broken;
  }
}
