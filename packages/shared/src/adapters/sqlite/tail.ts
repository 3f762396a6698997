/**
 * The readers of one process. Those that have caught up are handed each commit once, in log order: their own process's
 * straight from memory, with the very strings that were appended, other processes' from the file.
 *
 * T1. `delivered` is the position up to which every caught-up reader has been handed everything; it only grows.
 * T2. Own entries wait their turn: where another process committed in between, its entries are read from the file first.
 * T3. A reader that is behind reads by itself, partition by partition, and joins the others at the moment in which nothing
 *     is left between it and `delivered`.
 */
import { LoopledgerError } from "../../core/errors.ts";
import type { LogEntry } from "../../ports/index.ts";
import type { LedgerRows } from "./ledger-rows.ts";

export interface Reader {
  readonly partitions: ReadonlySet<number>;
  deliver(entries: readonly LogEntry[]): void;
}

export interface Tail {
  readonly delivered: number;
  /** Entries that this process has just committed. */
  own(entries: readonly LogEntry[]): void;
  /** Hands on what others have committed, as far as the file goes now. */
  look(): void;
  join(reader: Reader): void;
  leave(reader: Reader): void;
  /** Fulfilled once everything up to `pos` has been handed to the readers that have joined. */
  reached(pos: number): Promise<void>;
  close(): void;
}

/** What those hear who wait for entries that no longer come. */
export function isOver(): LoopledgerError {
  return new LoopledgerError("ledger_closed", "The subscription was closed before it had caught up.");
}

/** Rows that are read from the file in one go, and in one turn of the event loop. */
const CHUNK = 500;
const TURN = 4_000;

/** Pause before a file that is busy with another process's recovery is read again. */
const BUSY_PAUSE_MS = 5;

interface Waiter {
  readonly pos: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export interface TailOptions {
  readonly rows: LedgerRows;
  /** Where the ledger ends now: the readers of this process begin there. */
  readonly start: number;
  readonly isBusy: (error: unknown) => boolean;
  /** What a read threw. */
  readonly failed: (error: unknown) => void;
}

export function createTail({ rows, start, isBusy, failed }: TailOptions): Tail {
  const readers = new Set<Reader>();
  let delivered = start;
  let known = start;
  let own: (readonly LogEntry[])[] = [];
  let waiters: Waiter[] = [];
  let stale = false;
  let pumping = false;
  let later = false;
  let closed = false;

  const hand = (entries: readonly LogEntry[]): void => {
    delivered = entries.at(-1)?.offset ?? delivered;
    for (const reader of [...readers]) {
      const all = reader.partitions.size === rows.partitions;
      const wanted = all ? entries : entries.filter((entry) => reader.partitions.has(entry.partition));
      if (wanted.length > 0) reader.deliver(wanted);
    }
  };
  /** The next entries in log order, or none where the turn's share of reading is used up. */
  const next = (share: number): readonly LogEntry[] => {
    const head = own[0];
    const first = head?.[0];
    if (head !== undefined && first?.offset === delivered + 1) {
      own.shift();
      return head;
    }
    if (share <= 0) return [];
    return rows.range(delivered + 1, first === undefined ? known : first.offset - 1, CHUNK);
  };
  const drain = (): void => {
    if (stale) known = Math.max(known, rows.last());
    stale = false;
    for (let share = TURN; delivered < known && !closed; ) {
      // With nobody to hand them to, nothing is read.
      if (readers.size === 0) {
        delivered = known;
        own = [];
        return;
      }
      const entries = next(share);
      if (entries.length === 0) return goOnLater(0);
      share -= entries.length;
      hand(entries);
    }
  };
  const pump = (): void => {
    if (pumping || closed) return;
    pumping = true;
    try {
      drain();
    } catch (error) {
      if (isBusy(error)) goOnLater(BUSY_PAUSE_MS);
      else {
        settleWaiters((waiter) => waiter.failed(error));
        failed(error);
      }
    } finally {
      pumping = false;
    }
    settleWaiters((waiter) => waiter.done(), delivered);
  };
  const goOnLater = (pauseMs: number): void => {
    if (later) return;
    later = true;
    const go = (): void => {
      later = false;
      pump();
    };
    if (pauseMs === 0) setImmediate(go);
    else setTimeout(go, pauseMs);
  };
  const settleWaiters = (settle: (waiter: Waiter) => void, upTo = Number.POSITIVE_INFINITY): void => {
    if (waiters.length === 0) return;
    const reached = waiters.filter((waiter) => waiter.pos <= upTo);
    waiters = waiters.filter((waiter) => waiter.pos > upTo);
    for (const waiter of reached) settle(waiter);
  };
  return {
    get delivered() {
      return delivered;
    },
    own: (entries) => {
      own.push(entries);
      known = Math.max(known, entries.at(-1)?.offset ?? 0);
      pump();
    },
    look: () => {
      stale = true;
      pump();
    },
    join: (reader) => readers.add(reader),
    leave: (reader) => readers.delete(reader),
    reached: (pos) => new Promise((done, fail) => {
      waiters.push({ pos, done, failed: fail });
      known = Math.max(known, pos);
      pump();
    }),
    close: () => {
      closed = true;
      readers.clear();
      settleWaiters((waiter) => waiter.failed(isOver()));
    },
  };
}
