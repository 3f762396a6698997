/** Log time for tests: it stands still until a record is appended or somebody waits. */
import type { LogTime } from "../core/brand.ts";

export interface StepClock {
  /** The time now; moves nothing. */
  now(): LogTime;
  /** One step on: what the log stamps on the next record. */
  next(): LogTime;
  /** Moves on by so many milliseconds. */
  wait(ms: number): void;
}

/** A round instant that reads well in a failure's output: 2030-01-01T00:00:00.000Z. */
export const firstInstant = 1_893_456_000_000;

export function stepClock(start: number = firstInstant, stepMs = 10): StepClock {
  let now = start;
  return {
    now: () => now as LogTime,
    next: () => {
      now += stepMs;
      return now as LogTime;
    },
    wait: (ms) => {
      now += ms;
    },
  };
}
