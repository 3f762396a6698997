/** One reader of the memory log: every entry of its partitions once, in log order, in pieces of any size. */
import { LoopledgerError } from "../../core/errors.ts";
import type { LogEntry, Positions, Subscription } from "../../ports/index.ts";
import type { MemoryLog } from "./log.ts";

function isOver(): LoopledgerError {
  return new LoopledgerError("ledger_closed", "The subscription was closed before it had caught up.");
}

export interface MemorySubscription extends Subscription {
  /** Hands over what stands before `end`. */
  pump(end: number): void;
}

export function createMemorySubscription(options: {
  log: MemoryLog;
  from: Positions;
  listener: (entries: readonly LogEntry[]) => void;
  /** Size of the next piece. */
  piece: () => number;
  onClose: () => void;
  /** Calls again after a pause: for a piece at which the listener threw. */
  later: (call: () => void) => void;
}): MemorySubscription {
  const { log, from, listener, piece, onClose, later } = options;
  let at = 0;
  let target = 0;
  let closed = false;
  let pumping = false;
  /** The listener threw: it is handed the same piece again. */
  let pausing = false;
  let waiters: { readonly end: number; readonly done: () => void; readonly failed: (error: Error) => void }[] = [];

  const wanted = (entry: LogEntry): boolean => {
    const first = from.get(entry.partition);
    return first !== undefined && entry.offset >= first;
  };
  const pump = (end: number): void => {
    target = Math.max(target, end);
    if (pumping || pausing) return;
    pumping = true;
    try {
      while (!closed && at < target) {
        const upTo = Math.min(target, at + piece());
        const entries = log.entries.slice(at, upTo).filter(wanted);
        if (entries.length > 0) listener(entries);
        at = upTo;
      }
    } catch {
      pausing = true;
      later(() => {
        pausing = false;
        pump(target);
      });
    } finally {
      pumping = false;
    }
    const reached = waiters.filter((waiter) => waiter.end <= at);
    waiters = waiters.filter((waiter) => waiter.end > at);
    for (const waiter of reached) waiter.done();
  };
  return {
    pump,
    caughtUp: () => new Promise((done, failed) => {
      if (closed) failed(isOver());
      else if (at >= log.entries.length) done();
      else waiters.push({ end: log.entries.length, done, failed });
    }),
    close: async () => {
      closed = true;
      onClose();
      for (const waiter of waiters) waiter.failed(isOver());
      waiters = [];
    },
  };
}
