/**
 * A member of a consumer group that hands on raw records, for topics that other systems write.
 *
 * T1. A position is committed after the handler has taken everything before it, never before and never by a timer: a process that
 *     dies in between is handed the same records again, so handlers are idempotent.
 * T2. A handler that throws is handed the same records again after a pause; nothing of its partition is passed over.
 * T3. A partition whose records are not taken soon is set aside with its handler, and the others go on: the client itself fetches nothing
 *     more from a broker before every batch of the last answer is done with.
 * T4. An offset that retention took away before it was read is told with its extent; the client alone would jump in silence.
 *
 * The group decides who reads what, and nothing more: a handler may still run when its partition has gone to another member.
 */
import type { Consumer, EachBatchPayload, KafkaMessage } from "kafkajs";
import { LoopledgerError } from "../../core/errors.ts";
import { registerCodecs } from "./codecs.ts";
import { ComingUp, onceUp } from "./coming-up.ts";
import { connectKafka, type KafkaConnection } from "./connection.ts";
import { unreachable } from "./patience.ts";

export interface TopicRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds, as the topic's setting has them. */
  readonly time: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  /** The last one where a name stands several times. */
  readonly headers: Readonly<Record<string, Uint8Array>>;
  /** The ones before it. */
  readonly repeats?: Readonly<Record<string, readonly Uint8Array[]>> | undefined;
}

/** Records from `from` to `to` (exclusive) were removed before the group had read them. */
export interface TopicGap {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

export interface TopicReaderOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly group: string;
  /** Records of one partition in order; fulfilled when they need not be handed on again. */
  readonly handle: (records: readonly TopicRecord[]) => Promise<void>;
  readonly gap: (gap: TopicGap) => void;
  readonly log: (error: unknown) => void;
}

export interface TopicReader {
  /** Leaves the group, so that another member takes over at once; a running handler is waited for, a few seconds. */
  close(): Promise<void>;
}

const SESSION_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** An answer comes as soon as there is anything; this is how long a broker with nothing is left alone. */
const POLL_MS = 1_000;
const PARTITION_BYTES_MAX = 2 << 20;
const AT_ONCE = 3;
const RETRY_PAUSE_MS = 200;
const RETRY_PAUSE_MAX_MS = 5_000;
const CLOSING_MS = 5_000;
/** A handler that takes longer holds up its own partition only. */
const HOLD_UP_MS = 500;

/** Throws `ledger_unreachable` where no broker answers or the topic is not there. */
export async function openTopicReader(options: TopicReaderOptions): Promise<TopicReader> {
  registerCodecs();
  const kafka = connectKafka(options.connection);
  const consumer = kafka.consumer({
    groupId: options.group, sessionTimeout: SESSION_MS, heartbeatInterval: HEARTBEAT_MS, maxWaitTimeInMs: POLL_MS, minBytes: 1,
    maxBytesPerPartition: PARTITION_BYTES_MAX, allowAutoTopicCreation: false, retry: { retries: 100, restartOnFailure: async () => true },
  });
  const admin = kafka.admin();
  const move = async (partition: number, offset: string): Promise<void> => {
    await consumer.commitOffsets([{ topic: options.topic, partition, offset }]);
    consumer.seek({ topic: options.topic, partition, offset });
  };
  const member = new Member(options, { move, committed: () => onceUp(() => admin.fetchOffsets({ groupId: options.group, topics: [options.topic] })), bounds: () => admin.fetchTopicOffsets(options.topic) });
  const comingUp = new ComingUp();
  consumer.on(consumer.events.GROUP_JOIN, () => {
    comingUp.isUp();
    member.joined();
  });
  consumer.on(consumer.events.CRASH, ({ payload, timestamp }) => {
    if (comingUp.isWorthTelling(payload.error, timestamp)) options.log(unreachable(options, payload.error));
  });
  try {
    await Promise.all([admin.connect(), consumer.connect()]);
    if (!(await admin.listTopics()).includes(options.topic)) throw missing(options.topic);
    await member.lookAhead();
    await consumer.subscribe({ topics: [options.topic], fromBeginning: true });
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, partitionsConsumedConcurrently: AT_ONCE, eachBatch: (batch) => member.take(batch) });
  } catch (error) {
    await leave(consumer, admin);
    throw error instanceof LoopledgerError ? error : unreachable(options, error);
  }
  return {
    close: async () => {
      await withinClosing(member.stop());
      await leave(consumer, admin);
    },
  };
}

function missing(topic: string): LoopledgerError {
  return new LoopledgerError("ledger_unreachable", `There is no topic ${topic}.`, {
    next: "Make the topics with `loopledger topics apply`; services never make them.",
  });
}

async function leave(consumer: Consumer, admin: { disconnect(): Promise<void> }): Promise<void> {
  await withinClosing(Promise.all([consumer.disconnect(), admin.disconnect()]));
}

async function withinClosing(work: Promise<unknown>): Promise<void> {
  await firstOf(work.then(() => undefined, () => undefined), CLOSING_MS);
}
/** What the work gives, or null where it takes longer. */
async function firstOf<T>(work: Promise<T>, limitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([work, new Promise<null>((done) => {
      timer = setTimeout(() => done(null), limitMs);
    })]);
  } finally {
    clearTimeout(timer);
  }
}

interface Offsets {
  /** Commits the next offset of a partition and goes on there. */
  move(partition: number, offset: string): Promise<void>;
  committed(): Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>;
  bounds(): Promise<readonly { readonly partition: number; readonly low: string }[]>;
}

/** Records that are taken beside the client: up to where, since which joining, and how their partition goes on. */
interface Beside {
  readonly partition: number;
  readonly next: number;
  readonly joining: number;
  readonly resume: () => void;
}

/** What one member knows of its partitions. */
class Member {
  readonly #options: TopicReaderOptions;
  readonly #offsets: Offsets;
  /** The next offset of each partition that was read since the last joining. */
  readonly #next = new Map<number, number>();
  #committed: Promise<ReadonlyMap<number, number>> = Promise.resolve(new Map());
  #joinings = 0;
  #isStopped = false;
  readonly #resting = new Set<() => void>();
  /** Handlers that go on beside the client. */
  readonly #beside = new Set<Promise<void>>();

  constructor(options: TopicReaderOptions, offsets: Offsets) {
    this.#options = options;
    this.#offsets = offsets;
  }

  /** Where the group stands is looked up before the client looks: where an offset is gone, the client commits another one unasked. */
  async lookAhead(): Promise<void> {
    this.#committed = this.#loadCommitted();
    await this.#committed;
  }

  /** Partitions may have been with others since the last joining. */
  joined(): void {
    if (this.#joinings > 0) {
      this.#next.clear();
      this.#committed = this.#loadCommitted();
      this.#committed.catch(() => undefined);
    }
    this.#joinings += 1;
  }

  /** Fulfilled when no handler goes on beside the client any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const wake of [...this.#resting]) wake();
    await Promise.all(this.#beside);
  }

  async take({ batch, isRunning, isStale, pause, resolveOffset, commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
    const { topic, partition, messages } = batch;
    const joining = this.#joinings;
    const isMine = (): boolean => isRunning() && !isStale() && !this.#isStopped && joining === this.#joinings;
    await this.#lookForGap(partition, Number(batch.firstOffset() ?? batch.lastOffset()));
    const records = messages.map((message) => toTopicRecord(topic, partition, message));
    const next = Number(batch.lastOffset()) + 1;
    const work = this.#handle(records, isMine);
    const isTaken = await firstOf(work, HOLD_UP_MS);
    if (isTaken === null) return this.#goOnBeside(work, { partition, next, joining, resume: pause() });
    if (!isTaken) return;
    this.#next.set(partition, next);
    resolveOffset(batch.lastOffset());
    await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset: String(next) }] }] });
  }

  /** The partition rests until its records have been taken; where the commit fails, they are handed on again. */
  #goOnBeside(work: Promise<boolean>, { partition, next, joining, resume }: Beside): void {
    const over = work.then(async (isTaken) => {
      // Who has joined anew may have other partitions: what was taken meanwhile is handed on again, to whoever has it now.
      if (!isTaken || joining !== this.#joinings) return;
      await this.#offsets.move(partition, String(next));
      this.#next.set(partition, next);
    }).catch((error: unknown) => this.#options.log(error)).then(() => {
      this.#beside.delete(over);
      resume();
    });
    this.#beside.add(over);
  }

  /** True where the handler has taken the records; false where they are somebody else's now. */
  async #handle(records: readonly TopicRecord[], isMine: () => boolean): Promise<boolean> {
    for (let tries = 1; isMine(); tries++) {
      try {
        if (records.length > 0) await this.#options.handle(records);
        return true;
      } catch (error) {
        this.#options.log(error);
        await this.#pause(Math.min(RETRY_PAUSE_MAX_MS, RETRY_PAUSE_MS * 2 ** (tries - 1)));
      }
    }
    return false;
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((done) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#resting.delete(wake);
        done();
      };
      const timer = setTimeout(wake, delayMs);
      this.#resting.add(wake);
    });
  }

  async #lookForGap(partition: number, first: number): Promise<void> {
    const expected = this.#next.get(partition) ?? (await this.#committed).get(partition);
    if (expected === undefined || first <= expected) return;
    // Markers of transactions use up offsets too: only what lies before the beginning of the log was removed.
    const low = Number((await this.#offsets.bounds()).find((one) => one.partition === partition)?.low ?? 0);
    if (low > expected) this.#options.gap({ topic: this.#options.topic, partition, from: expected, to: Math.min(low, first) });
  }

  /** Where the group stands; partitions in which it has never been are left out. */
  async #loadCommitted(): Promise<ReadonlyMap<number, number>> {
    const [topic] = await this.#offsets.committed();
    const all = (topic?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
    return new Map(all.filter(([, offset]) => offset >= 0));
  }
}

function toTopicRecord(topic: string, partition: number, { key, value, headers, offset, timestamp }: KafkaMessage): TopicRecord {
  // Names come from anybody: none of them may be one that an object has by itself.
  const named: Record<string, Uint8Array> = Object.create(null);
  const repeats: Record<string, Uint8Array[]> = Object.create(null);
  for (const [name, content] of Object.entries(headers ?? {})) {
    // A header without a value is one of no bytes; the client gives null for it, whatever its types say.
    const all = (Array.isArray(content) ? content : content === undefined ? [] : [content]).map((one) => (typeof one === "string" ? Buffer.from(one) : ((one as Buffer | null) ?? Buffer.alloc(0))));
    const last = all.pop();
    if (last !== undefined) named[name] = last;
    if (all.length > 0) repeats[name] = all;
  }
  const repeated = Object.keys(repeats).length > 0 ? { repeats } : {};
  return { topic, partition, offset: Number(offset), time: Number(timestamp), key, value, headers: named, ...repeated };
}
