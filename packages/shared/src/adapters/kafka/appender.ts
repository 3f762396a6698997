/**
 * Writing to the topic. What waits while a request is under way goes out together in the next one.
 *
 * A1. A partition has at most one request under way, so its records are in the log in the order of the calls.
 * A2. A parcel is done when the answer names its partition without an error, never because a request as a whole came back: what an
 *     answer does not name is sent again, with the same bytes and to the same partition.
 * A3. All records of a parcel are in one record batch, which the broker takes whole or not at all.
 * A4. No producer id: the broker's own de-duplication loses acknowledged records when concurrent sends meet a change of leader.
 *     A record may therefore be in the log twice; who reads drops repeats by their ids.
 * A5. An offset before what this process has read from a partition means that the log is another one: `ledger_lost`.
 */
import { isLoopledgerError, LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import { AppendLane, type Parcel } from "./append-lane.ts";
import { BrokerAnswer, codeMeaning, codeName } from "./broker-codes.ts";
import { pauseAfter, Recovery, unreachable } from "./patience.ts";
import type { Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import { idleSoFar, type Share, Ways } from "./ways.ts";
import { type ProducedPart, produce, type WireRecord } from "./wire.ts";

export interface AppenderOptions {
  readonly topology: Topology;
  readonly clock: Clock;
  readonly shown: Shown;
  /** Whether the partition still is part of the ledger that was opened; asked before records are sent again. */
  readonly check: (partition: number) => Promise<void>;
  /** Nobody may go on with this ledger. */
  readonly lost: (error: LoopledgerError) => void;
  /** Told where a partition goes on behind what was just acknowledged. */
  readonly written?: (partition: number, next: number) => void;
  /** An outage has begun, or a broker says for the first time in one what mends it. One is over when no partition waits for another try. */
  readonly troubled: (error: unknown) => void;
  /** How long the process has been idle so far, in ms; default: what Node tells of its event loop. */
  readonly idle?: () => number;
}

const CLOSING_MS = 3_000;
const REQUEST_BYTES_MAX = 8 << 20;

export class Appender {
  readonly #options: AppenderOptions;
  readonly #lanes: readonly AppendLane[];
  readonly #recovery: Recovery;
  readonly #ways: Ways;
  #idlers: (() => void)[] = [];
  #isScheduled = false;
  /** What was told of the outage that goes on: what mends it, or null where nobody knows. */
  readonly #told = new Set<string | null>();

  constructor(options: AppenderOptions, partitions: number) {
    this.#options = options;
    this.#ways = new Ways(options.idle ?? idleSoFar);
    this.#lanes = Array.from({ length: partitions }, (_, partition) => new AppendLane(partition));
    this.#recovery = new Recovery(options.topology, options.clock);
  }

  /** Fulfilled when the records are as durable as the topic's settings make them. */
  add(partition: number, records: readonly WireRecord[], bytes: number): Promise<void> {
    return new Promise((done, failed) => {
      const lane = this.#lanes[partition];
      if (lane === undefined) throw new RangeError(`There is no partition ${partition}.`);
      lane.add({ records, bytes, addedAt: this.#options.clock.monotonic(), done, failed } satisfies Parcel);
      this.#schedule();
    });
  }

  /** Fulfilled once everything added before is settled. */
  idle(): Promise<void> {
    if (this.#lanes.every((lane) => lane.isEmpty)) return Promise.resolve();
    return new Promise((done) => this.#idlers.push(done));
  }

  fail(error: unknown): void {
    for (const lane of this.#lanes) lane.fail(error);
    this.#settle();
  }

  /** What is under way is waited for a short while; what a cluster that is away keeps back is given up then. */
  async close(): Promise<void> {
    const cancel = this.#options.clock.after(CLOSING_MS, () => {
      this.fail(unreachable(this.#options.topology, new Error("the process was closed before the records were acknowledged.")));
    });
    await this.idle();
    cancel();
  }

  /** An immediate lets everything that the last answer set going append first. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const ready = this.#lanes.filter((lane) => !lane.isBusy && !lane.isEmpty);
    if (ready.length === 0) return;
    const byPartition = new Map(ready.map((lane) => [lane.partition, lane]));
    for (const [leader, partitions] of this.#options.topology.byLeader(byPartition.keys())) {
      const lanes = partitions.map((partition) => byPartition.get(partition) as AppendLane);
      if (leader === null) for (const lane of lanes) this.#again(lane, new Error(`Partition ${lane.partition} has no leader.`));
      else for (const share of this.#ways.shares(leader, lanes)) void this.#send(leader, share);
    }
  }

  /** One request to one node. It never rejects. */
  async #send(leader: number, { way, lanes }: Share): Promise<void> {
    const over = this.#ways.begin(leader, way);
    const { topology, shown } = this.#options;
    const batches = new Map<AppendLane, readonly WireRecord[]>();
    const before = new Map<number, number>();
    let bytes = 0;
    for (const lane of lanes) {
      if (bytes > REQUEST_BYTES_MAX) break;
      lane.isBusy = true;
      batches.set(lane, lane.take());
      before.set(lane.partition, shown.of(lane.partition));
      bytes += lane.bytes;
    }
    let parts: readonly ProducedPart[] = [];
    let failure: unknown = new Error("The broker's answer does not name the partition.");
    try {
      const link = await topology.link(leader, way);
      parts = await produce(link, topology.topic, new Map([...batches].map(([lane, batch]) => [lane.partition, batch])));
    } catch (error) {
      failure = error;
    }
    over(bytes);
    const answers = new Map(parts.map((part) => [part.partition, part]));
    for (const lane of batches.keys()) {
      const part = answers.get(lane.partition);
      if (part === undefined) this.#again(lane, failure);
      else this.#answer(lane, part, { read: before.get(lane.partition) ?? 0, count: batches.get(lane)?.length ?? 0 });
    }
    this.#settle();
    this.#schedule();
  }

  /** `read` is how far the partition had been read when the records were sent: they cannot stand before that. */
  #answer(lane: AppendLane, part: ProducedPart, { read, count }: { readonly read: number; readonly count: number }): void {
    lane.isBusy = false;
    const where = `partition ${part.partition} of ${this.#options.topology.topic}`;
    if (part.errorCode === 0) {
      if (Number(part.baseOffset) >= read) {
        this.#options.written?.(lane.partition, Number(part.baseOffset) + count);
        lane.written();
        if (this.#told.size > 0 && this.#lanes.every(({ tries }) => tries === 0)) this.#told.clear();
      } else this.#lose(new LoopledgerError("ledger_lost", `A record went to offset ${part.baseOffset} of ${where}, and it had been read up to ${read}: the log is another one.`));
      return;
    }
    switch (codeMeaning(part.errorCode)) {
      case "too_large":
        if (!lane.divide()) lane.refused(tooLarge(where, part.errorCode));
        break;
      case "bad_record":
        if (!lane.divide()) lane.refused(refusal(where, part.errorCode));
        break;
      case "refused":
        lane.refused(refusal(where, part.errorCode));
        break;
      case "again": case "no_topic": case "out_of_range":
        this.#again(lane, new BrokerAnswer({ topic: this.#options.topology.topic, partition: part.partition }, part.errorCode));
        break;
    }
  }

  /** Rests, looks where the partition is led now and that it is the same one, and lets it be sent again. */
  #again(lane: AppendLane, failure: unknown): void {
    const { clock, topology } = this.#options;
    lane.isBusy = true;
    lane.tries += 1;
    if (lane.expire(clock.monotonic() - topology.limits.writeMs, unreachable(topology, failure))) this.#settle();
    if (lane.tries > 1) this.#tell(failure);
    void this.#rest(lane);
  }

  #tell(failure: unknown): void {
    const mend = failure instanceof BrokerAnswer ? failure.mend : null;
    if (this.#told.has(mend) || (mend === null && this.#told.size > 0)) return;
    this.#told.add(mend);
    this.#options.troubled(failure);
  }

  async #rest(lane: AppendLane): Promise<void> {
    await this.#options.topology.pause(pauseAfter(lane.tries));
    try {
      if (!lane.isEmpty) {
        await this.#recovery.look();
        await this.#options.check(lane.partition);
      }
    } catch (error) {
      if (isLoopledgerError(error, "ledger_lost")) this.#lose(error);
      else if (!lane.isEmpty) {
        this.#again(lane, error);
        return;
      }
    }
    lane.isBusy = false;
    this.#schedule();
  }

  #lose(error: LoopledgerError): void {
    this.#options.lost(error);
    this.fail(error);
  }

  #settle(): void {
    if (this.#idlers.length === 0 || !this.#lanes.every((lane) => lane.isEmpty)) return;
    const idlers = this.#idlers;
    this.#idlers = [];
    for (const done of idlers) done();
  }
}

function tooLarge(where: string, code: number): LoopledgerError {
  return new LoopledgerError("batch_too_large", `Records that belong together are larger than ${where} takes in one batch (${codeName(code)}).`);
}

function refusal(where: string, code: number): LoopledgerError {
  return new LoopledgerError("ledger_read_only", `The broker refuses records of ${where}: ${codeName(code)}.`, {
    next: "Give this principal WRITE on the topic, or see what the broker's log says.",
  });
}
