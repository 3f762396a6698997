/** The ledger on a SQLite file that the processes of one host share. */
import { statSync } from "node:fs";
import { LoopledgerError } from "../../core/errors.ts";
import { isWholeText } from "../../core/json.ts";
import { defaultPartitions, partitionOf } from "../../core/placement.ts";
import type { Clock, Ids, Ledger, Subscription } from "../../ports/index.ts";
import { createCommitQueue } from "./commit-queue.ts";
import { patiently, storageFault } from "./database.ts";
import { openDoorbell } from "./doorbell.ts";
import { ledgerError } from "./ledger-errors.ts";
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { createSubscription } from "./subscription.ts";
import { createTail } from "./tail.ts";

export interface SqliteLedgerOptions {
  /** The data folder; made where it is missing. */
  readonly folder: string;
  /** Of a new ledger (default 4). An existing one must have as many, where the number is given. */
  readonly partitions?: number | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told what went wrong where no caller is waiting for an answer. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/**
 * Opens the ledger of a data folder, or makes a new one there. Throws `ledger_read_only`, `ledger_full`, `ledger_corrupt`,
 * `ledger_lost`, `ledger_newer`, `ledger_unreachable`, or `ledger_mismatch` where it has another number of partitions.
 */
export function openSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { clock, partitions } = options;
  const file = openLedgerFile({ ...options, partitions: partitions ?? defaultPartitions });
  if (partitions !== undefined && partitions !== file.partitions) {
    file.db.close();
    throw new LoopledgerError("ledger_mismatch", `${file.path} has ${file.partitions} partitions, not ${partitions}; the number is fixed for good.`);
  }
  const rows = createLedgerRows(file);
  const state = createState(file, options.log);
  const isBusy = (error: unknown): boolean => storageFault(error, file.path) === "busy";
  const tail = createTail({ rows, start: file.end, isBusy, failed: state.fail });
  const subscriptions = new Set<Subscription>();
  const bell = openDoorbell({
    ledgerPath: file.path, ledgerId: file.ledgerId, clock, ids: options.ids,
    heard: tail.look,
    look: () => {
      if (!isSameFile(file)) state.fail(new LoopledgerError("ledger_mismatch", `${file.path} was deleted or replaced while this process had it open.`));
      tail.look();
    },
  });
  const queue = createCommitQueue({
    file, clock,
    delivered: () => tail.delivered,
    committed: (entries) => {
      tail.own(entries);
      bell.ring(entries.at(-1)?.offset ?? 0);
    },
  });
  return {
    ledgerId: file.ledgerId,
    partitions: file.partitions,
    partitionOf: (key) => partitionOf(key, file.partitions),
    append: async (sessionId, values) => {
      state.check();
      if (!values.every(isWholeText)) throw new RangeError("A record holds half a character or a NUL.");
      if (values.length > 0) await queue.add(sessionId, values);
    },
    read: async (partition, from, limit) => state.read(() => rows.ofPartition(partition, from, Number.MAX_SAFE_INTEGER, limit)),
    readSession: async (sessionId, from) => state.read(() => rows.ofSession(sessionId, from ?? 0)),
    end: async () => state.read(rows.ends),
    subscribe: async (from, listener) => {
      const subscription = await state.read(() => createSubscription({
        rows, tail, from, listener, isBusy, flushed: queue.idle, end: () => state.read(rows.last), failed: state.fail,
      }));
      subscriptions.add(subscription);
      return subscription;
    },
    close: async () => {
      if (!state.isOpen()) return;
      state.close();
      await queue.idle();
      for (const subscription of subscriptions) await subscription.close();
      tail.close();
      bell.close();
      file.db.close();
    },
  };
}

/** Whether the ledger may still be used: open, closed, or broken by what a caller cannot mend. */
function createState(file: LedgerFile, log: ((error: unknown) => void) | undefined) {
  let broken: unknown;
  let closed = false;
  const fail = (cause: unknown): void => {
    const error = ledgerError(cause, file.path);
    if (error instanceof LoopledgerError && error.then === "stop") broken ??= error;
    log?.(error);
  };
  const check = (): void => {
    if (closed) throw new LoopledgerError("ledger_closed", `The ledger ${file.path} is closed.`);
    if (broken !== undefined) throw broken;
  };
  return {
    check,
    fail,
    isOpen: () => !closed,
    close: () => {
      closed = true;
    },
    /** A read that finds the file busy with another process's recovery is tried again for a while. */
    read: async <T>(call: () => T): Promise<T> => {
      try {
        return await patiently(file.path, () => {
          check();
          return call();
        });
      } catch (error) {
        throw ledgerError(error, file.path);
      }
    },
  };
}

/** A ledger that was deleted or replaced under a running process is not the one that others now write to. */
function isSameFile(file: LedgerFile): boolean {
  try {
    return statSync(file.path, { bigint: true, throwIfNoEntry: false })?.ino === file.inode;
  } catch {
    return false;
  }
}
