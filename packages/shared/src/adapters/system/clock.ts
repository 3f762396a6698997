import type { Clock } from "../../ports/index.ts";

/**
 * The machine's clocks. `monotonic` counts from the machine's start, so the processes of one host can compare it;
 * it does not follow changes of the wall clock.
 */
export function createSystemClock(): Clock {
  const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return {
    now: () => Date.now(),
    monotonic: () => originMs + performance.now(),
    after,
  };
}

/** The longest delay that Node's timers keep; a longer one would fire at once. */
const DELAY_MAX_MS = 2 ** 31 - 1;

function after(delayMs: number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const partMs = Math.min(leftMs, DELAY_MAX_MS);
    timer = setTimeout(() => (leftMs > partMs ? arm(leftMs - partMs) : call()), partMs);
    timer.unref();
  };
  arm(delayMs);
  return () => clearTimeout(timer);
}
