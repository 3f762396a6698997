/** One reader from any position: it reads what is behind, then joins the process's tail. */
import { LoopledgerError } from "../../core/errors.ts";
import type { LogEntry, Positions, Subscription } from "../../ports/index.ts";
import type { LedgerRows } from "./ledger-rows.ts";
import { isOver, type Reader, type Tail } from "./tail.ts";

const CHUNK = 500;
const BUSY_PAUSE_MS = 5;

export interface SubscriptionOptions {
  readonly rows: LedgerRows;
  readonly tail: Tail;
  readonly from: Positions;
  readonly listener: (entries: readonly LogEntry[]) => void;
  /** Everything that this process has been asked to append is in the file when this is fulfilled. */
  readonly flushed: () => Promise<void>;
  /** The last position of the ledger now. */
  readonly end: () => Promise<number>;
  /** What a read threw; the reader stops there. */
  readonly failed: (error: unknown) => void;
  readonly isBusy: (error: unknown) => boolean;
}

export function createSubscription(options: SubscriptionOptions): Subscription {
  const { rows, tail, listener, flushed, failed, isBusy } = options;
  const last = rows.last();
  const next = new Map<number, number>();
  for (const [partition, offset] of options.from) {
    if (offset > last + 1) {
      throw new LoopledgerError("ledger_lost", `Partition ${partition} was read up to ${offset} and the ledger now ends at ${last}.`);
    }
    next.set(partition, offset);
  }
  let closed = false;
  const joined = defer();
  const reader: Reader = {
    partitions: new Set(next.keys()),
    deliver: (entries) => hand(listener, entries),
  };
  /** One piece of what is behind; true where nothing was. */
  const isLevel = (): boolean => {
    for (const [partition, from] of next) {
      const entries = rows.ofPartition(partition, from, tail.delivered, CHUNK);
      if (entries.length === 0) continue;
      next.set(partition, (entries.at(-1) as LogEntry).offset + 1);
      hand(listener, entries);
      return false;
    }
    return true;
  };
  const catchUp = (): void => {
    if (closed) return joined.reject(isOver());
    try {
      if (!isLevel()) return void setImmediate(catchUp);
    } catch (error) {
      if (isBusy(error)) return void setTimeout(catchUp, BUSY_PAUSE_MS);
      joined.reject(error);
      return failed(error);
    }
    if (closed) return joined.reject(isOver());
    tail.join(reader);
    joined.resolve();
    tail.look();
  };
  setImmediate(catchUp);
  return {
    caughtUp: async () => {
      await flushed();
      const end = await options.end();
      await joined.promise;
      if (closed) throw isOver();
      await tail.reached(end);
    },
    close: async () => {
      closed = true;
      tail.leave(reader);
    },
  };
}

/** A listener that throws is a bug of its owner: it ends the process, and it does not disturb the log's other readers. */
function hand(listener: (entries: readonly LogEntry[]) => void, entries: readonly LogEntry[]): void {
  try {
    listener(entries);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function defer(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Nobody may be waiting for it; whoever does gets the rejection all the same.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
