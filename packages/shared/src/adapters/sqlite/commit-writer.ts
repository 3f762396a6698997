/**
 * One transaction of the ledger.
 *
 * W1. Position and time are taken inside the transaction: positions are dense, and the time never goes back in the ledger, nor does
 *     it stand still where the wall clock was put back: it goes on with the monotonic clock, so that what waits for it comes due.
 * W2. A ledger that ends before what this process has read from it is not written to.
 * W3. Where enough records have piled up behind the watermark, their lists go into the same transaction, and so into its one flush.
 */
import type { LogTime, Offset } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { partitionOf } from "../../core/placement.ts";
import type { Clock, LogEntry } from "../../ports/index.ts";
import { rollback } from "./database.ts";
import type { LedgerFile } from "./ledger-file.ts";
import type { RecentPositions } from "./recent-positions.ts";

/** Records of one session that go in together. */
export interface Batch {
  readonly key: string;
  readonly values: readonly string[];
}

/** Writes the batches whole or not at all, and gives the entries that they became, holding the very strings they came with. */
export type CommitWriter = (batches: readonly Batch[]) => readonly LogEntry[];

export function createCommitWriter(options: {
  file: LedgerFile;
  clock: Clock;
  /** Where the readers of this process are. */
  delivered: () => number;
  recent: RecentPositions;
}): CommitWriter {
  const { clock, delivered, recent } = options;
  const { db, path, partitions } = options.file;
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const last = db.prepare("SELECT pos, time FROM rec ORDER BY pos DESC LIMIT 1");
  const insert = db.prepare("INSERT INTO rec(pos, partition, session, time, value) VALUES (?, ?, ?, ?, ?)");
  /** The latest time that this process gave, and when that was by the monotonic clock. */
  let given: { readonly time: number; readonly atMs: number } | null = null;
  const timeAfter = (endTime: number): LogTime => {
    // The wall clock first: who stands still between the two looks would else be ahead of it by that pause for good, and all others with him.
    const now = clock.now();
    const atMs = clock.monotonic();
    const goneOn = given === null ? 0 : Math.floor(given.time + atMs - given.atMs);
    const time = Math.max(now, endTime, goneOn);
    given = { time, atMs };
    return time as LogTime;
  };
  /** Called once what was written besides is committed. */
  let listed: (() => void) | null = null;
  const write = (batches: readonly Batch[]): readonly LogEntry[] => {
    const end = (last.get() ?? { pos: 0, time: 0 }) as { pos: number; time: number };
    if (end.pos < delivered()) {
      throw new LoopledgerError("ledger_lost", `${path} ends at ${end.pos}, and ${delivered()} was read from it before.`);
    }
    listed = recent.list(end.pos);
    const time = timeAfter(end.time);
    const entries: LogEntry[] = [];
    let pos = end.pos;
    for (const { key, values } of batches) {
      const partition = partitionOf(key, partitions);
      for (const value of values) {
        insert.run(++pos, partition, key, time, value);
        entries.push({ partition, offset: pos as Offset, time, key, value });
      }
    }
    return entries;
  };
  /** A function of its own, so that a profile tells the flush from the rest. */
  const commitWhole = (): void => void commit.run();
  return (batches) => {
    try {
      begin.run();
      const entries = write(batches);
      commitWhole();
      listed?.();
      return entries;
    } catch (error) {
      rollback(db);
      throw error;
    }
  };
}
