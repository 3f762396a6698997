/**
 * Time that stands still until it is moved. Timers fire in the order of their due time, equal ones in the order in which
 * they were set; after each one everything that it made runnable runs to its end before the next fires.
 */
import type { Clock } from "../../ports/index.ts";

export interface VirtualClock extends Clock {
  /** Moves time on, firing what falls due on the way. */
  advance(ms: number): Promise<void>;
  /** Fires timers until none is left, or until `limitMs` of virtual time have passed (default one day). */
  runUntilIdle(limitMs?: number): Promise<void>;
  /** Lets what is runnable run, without moving time. */
  settle(): Promise<void>;
  /** Timers that are set. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly call: () => void;
}

const DAY_MS = 86_400_000;
/** Where virtual time begins: any fixed instant will do, and a round one reads well in a trace. */
const EPOCH_MS = Date.UTC(2030, 0, 1);

export function createVirtualClock(startMs: number = EPOCH_MS): VirtualClock {
  let elapsed = 0;
  const timers: Timer[] = [];

  const after = (delayMs: number, call: () => void): (() => void) => {
    const timer: Timer = { due: elapsed + Math.max(0, delayMs), call };
    let low = 0;
    let high = timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((timers[middle] as Timer).due <= timer.due) low = middle + 1;
      else high = middle;
    }
    timers.splice(low, 0, timer);
    return () => {
      const index = timers.indexOf(timer);
      if (index >= 0) timers.splice(index, 1);
    };
  };
  /** An immediate runs after every promise reaction that is queued, however long their chains are. */
  const settle = (): Promise<void> => new Promise((done) => setImmediate(done));
  const fireUntil = async (until: number): Promise<void> => {
    await settle();
    for (let first = timers[0]; first !== undefined && first.due <= until; first = timers[0]) {
      timers.shift();
      elapsed = Math.max(elapsed, first.due);
      first.call();
      await settle();
    }
  };

  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after,
    settle,
    get pending() {
      return timers.length;
    },
    advance: async (ms) => {
      const until = elapsed + ms;
      await fireUntil(until);
      elapsed = until;
    },
    runUntilIdle: (limitMs = DAY_MS) => fireUntil(elapsed + limitMs),
  };
}
