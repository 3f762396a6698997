/**
 * Group commit: what waits while one transaction runs goes out together in the next. A batch is in one transaction, whole;
 * batches are written in the order in which they came.
 *
 * C1. A batch is acknowledged after the transaction that holds it was flushed to the disk, never before.
 * C2. A busy ledger is waited for without blocking the process; nothing was written meanwhile, so nothing is lost or doubled.
 * C3. The append time is taken inside the transaction and never goes back within the ledger.
 */
import type { LogTime, Offset } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { partitionOf } from "../../core/placement.ts";
import type { Clock, LogEntry } from "../../ports/index.ts";
import { rollback, storageFault } from "./database.ts";
import { ledgerError } from "./ledger-errors.ts";
import type { LedgerFile } from "./ledger-file.ts";

export interface CommitQueue {
  add(key: string, values: readonly string[]): Promise<void>;
  /** Fulfilled once everything added before is settled. */
  idle(): Promise<void>;
}

interface Batch {
  readonly key: string;
  readonly values: readonly string[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Records of one transaction, so that a flood neither grows without bound in the log's file nor holds up the process. */
const RECORDS_MAX = 2_000;
/** Longest wait for a ledger that another process holds. */
const BUSY_MS = 30_000;
const PAUSE_MAX_MS = 20;

export function createCommitQueue(options: {
  file: LedgerFile;
  clock: Clock;
  /** Where the readers of this process are; the log must not end before it. */
  delivered: () => number;
  /** Called after each commit with what it wrote, before the batches are acknowledged. */
  committed: (entries: readonly LogEntry[]) => void;
}): CommitQueue {
  const { file, clock, committed } = options;
  const write = createWriter(options.file, clock, options.delivered);
  let queue: Batch[] = [];
  let scheduled = false;
  let busySince: number | null = null;
  let idlers: (() => void)[] = [];

  const schedule = (pauseMs: number): void => {
    scheduled = true;
    if (pauseMs === 0) setImmediate(flush);
    else setTimeout(flush, pauseMs);
  };
  const settled = (): void => {
    if (queue.length > 0) schedule(0);
    else {
      const calls = idlers;
      idlers = [];
      for (const call of calls) call();
    }
  };
  /** True where the batches may be tried again; false where the wait was too long. */
  const waitForOthers = (batches: readonly Batch[]): boolean => {
    const now = clock.monotonic();
    busySince ??= now;
    const waitedMs = now - busySince;
    if (waitedMs > BUSY_MS) return false;
    queue = [...batches, ...queue];
    schedule(waitedMs < 1 ? 0 : Math.min(PAUSE_MAX_MS, 1 + Math.floor(waitedMs / 50)));
    return true;
  };
  function flush(): void {
    scheduled = false;
    const batches = takeBatches(queue);
    queue = queue.slice(batches.length);
    let entries: readonly LogEntry[];
    try {
      entries = write(batches);
    } catch (error) {
      if (storageFault(error, file.path) === "busy" && waitForOthers(batches)) return;
      busySince = null;
      for (const batch of batches) batch.failed(ledgerError(error, file.path));
      settled();
      return;
    }
    busySince = null;
    committed(entries);
    for (const batch of batches) batch.done();
    settled();
  }
  return {
    add: (key, values) => new Promise((done, failed) => {
      queue.push({ key, values, done, failed });
      if (!scheduled) schedule(0);
    }),
    idle: () => new Promise((done) => {
      if (!scheduled && queue.length === 0) done();
      else idlers.push(done);
    }),
  };
}

function takeBatches(queue: readonly Batch[]): readonly Batch[] {
  let records = 0;
  let count = 0;
  for (const batch of queue) {
    if (count > 0 && records + batch.values.length > RECORDS_MAX) break;
    records += batch.values.length;
    count++;
  }
  return queue.slice(0, count);
}

function createWriter({ db, path, partitions }: LedgerFile, clock: Clock, delivered: () => number) {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const last = db.prepare("SELECT pos, time FROM rec ORDER BY pos DESC LIMIT 1");
  const insert = db.prepare("INSERT INTO rec(pos, partition, session, time, value) VALUES (?, ?, ?, ?, ?)");
  return (batches: readonly Batch[]): readonly LogEntry[] => {
    const entries: LogEntry[] = [];
    try {
      begin.run();
      const end = last.get() as { pos: number; time: number } | undefined;
      if ((end?.pos ?? 0) < delivered()) {
        throw new LoopledgerError("ledger_lost", `${path} ends at ${end?.pos ?? 0}, and ${delivered()} was read from it before.`);
      }
      const time = Math.max(clock.now(), end?.time ?? 0) as LogTime;
      let pos = end?.pos ?? 0;
      for (const { key, values } of batches) {
        const partition = partitionOf(key, partitions);
        for (const value of values) {
          insert.run(++pos, partition, key, time, value);
          entries.push({ partition, offset: pos as Offset, time, key, value });
        }
      }
      commit.run();
      return entries;
    } catch (error) {
      rollback(db);
      throw error;
    }
  };
}
