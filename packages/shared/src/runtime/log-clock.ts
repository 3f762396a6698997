/**
 * What time it is by the log, as far as this process can tell. Timers and call windows are judged by append times, and this
 * process's own clock may be wrong by hours: waiting by it would ask too early without end, or far too late.
 *
 * C1. Once this process has read back something of its own, its answer is never ahead of the log: the append time of what was
 *     read back, and what has passed since on the monotonic clock.
 * C2. It is never behind an append time that this process has seen.
 * C3. Before that its own wall clock is all there is.
 */
import type { LogTime } from "../core/brand.ts";
import type { Clock } from "../ports/index.ts";

export class LogClock {
  readonly #clock: Clock;
  /** What is to be added to the monotonic clock; null while nothing has been read back. */
  #ahead: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): LogTime {
    return (this.#ahead === null ? this.#clock.now() : this.#clock.monotonic() + this.#ahead) as LogTime;
  }
  /** The same, seen from a record of the log that was read, by whatever way; it is not before that. */
  nowAfter(at: LogTime | null): LogTime {
    if (at !== null) this.heard(at, false);
    return this.now();
  }
  /** An entry of the log has been folded; `own`: this process waits for it, so that it was appended just now. */
  heard(time: LogTime, own: boolean): void {
    if (own || time > this.now()) this.#ahead = time - this.#clock.monotonic();
  }
}
