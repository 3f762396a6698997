/**
 * Group commit: what waits while one transaction runs goes out together in the next. A batch is in one transaction, whole;
 * batches are written in the order in which they came.
 *
 * C1. A batch is acknowledged after the transaction that holds it was flushed to the disk, never before.
 * C2. A busy ledger is waited for without blocking the process; nothing was written meanwhile, so nothing is lost or doubled.
 * C3. What a write throws its callers are told. What else is thrown here keeps nobody's batch from its turn: it is told to the
 *     reactor, which calls again.
 */
import type { Clock, LogEntry } from "../../ports/index.ts";
import type { Batch, CommitWriter } from "./commit-writer.ts";
import type { Reactor } from "./reactor.ts";

interface Waiting extends Batch {
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export interface CommitQueueOptions {
  readonly clock: Clock;
  readonly write: CommitWriter;
  /** Called after each commit with what it wrote, before the batches are acknowledged. */
  readonly committed: (entries: readonly LogEntry[]) => void;
  readonly isBusy: (error: unknown) => boolean;
  /** Reads what readers were not told of, where `committed` threw: the batches are on the disk all the same. */
  readonly missed: () => void;
  readonly reactor: Reactor;
  /** What a caller is told. */
  readonly explain: (error: unknown) => unknown;
}

/** Records of one transaction, so that a flood neither grows without bound in the log's file nor holds up the process. */
const RECORDS_MAX = 2_000;
/** Longest wait for a ledger that another process holds. */
const BUSY_MS = 30_000;
const PAUSE_MAX_MS = 20;

export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #queue: Waiting[] = [];
  #isScheduled = false;
  #busySince: number | null = null;
  #idlers: (() => void)[] = [];
  readonly #flush = (): void => void this.#options.reactor.now(() => this.#write());

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  add(batch: Batch): Promise<void> {
    return new Promise((done, failed) => {
      this.#queue.push({ ...batch, done, failed });
      if (!this.#isScheduled) this.#schedule(0);
    });
  }

  /** Fulfilled once everything added before is settled. */
  idle(): Promise<void> {
    if (!this.#isScheduled && this.#queue.length === 0) return Promise.resolve();
    return new Promise((done) => this.#idlers.push(done));
  }

  /** An immediate lets everything that the last commit set going append first. */
  #schedule(pauseMs: number): void {
    this.#isScheduled = true;
    if (pauseMs === 0) setImmediate(this.#flush);
    else setTimeout(this.#flush, pauseMs);
  }

  #write(): void {
    this.#isScheduled = false;
    const batches = takeBatches(this.#queue);
    this.#queue = this.#queue.slice(batches.length);
    let entries: readonly LogEntry[];
    try {
      entries = this.#options.write(batches);
    } catch (error) {
      if (this.#options.isBusy(error) && this.#waitForOthers(batches)) return;
      this.#busySince = null;
      const told = this.#options.explain(error);
      for (const batch of batches) batch.failed(told);
      this.#goOn();
      return;
    }
    this.#busySince = null;
    this.#tell(entries);
    for (const batch of batches) batch.done();
    this.#goOn();
  }

  #tell(entries: readonly LogEntry[]): void {
    try {
      this.#options.committed(entries);
    } catch (error) {
      this.#options.reactor.again(error, this.#options.missed, "readers");
    }
  }

  /** True where the batches wait for another try; false where they have waited too long. */
  #waitForOthers(batches: readonly Waiting[]): boolean {
    const now = this.#options.clock.monotonic();
    this.#busySince ??= now;
    const waitedMs = now - this.#busySince;
    if (waitedMs > BUSY_MS) return false;
    this.#queue = [...batches, ...this.#queue];
    this.#schedule(waitedMs < 1 ? 0 : Math.min(PAUSE_MAX_MS, 1 + Math.floor(waitedMs / 50)));
    return true;
  }

  #goOn(): void {
    if (this.#queue.length > 0) {
      if (!this.#isScheduled) this.#schedule(0);
      return;
    }
    const idlers = this.#idlers;
    this.#idlers = [];
    for (const done of idlers) done();
  }
}

function takeBatches(queue: readonly Waiting[]): readonly Waiting[] {
  let records = 0;
  let count = 0;
  for (const batch of queue) {
    if (count > 0 && records + batch.values.length > RECORDS_MAX) break;
    records += batch.values.length;
    count++;
  }
  return queue.slice(0, count);
}
