/** How long to wait, and what for: `what` names the awaited state in the failure message. */
export interface UntilOptions {
  /** A busy machine lets processes stand still for seconds; who waits for what is sure to come loses nothing (default 60 s). */
  readonly timeoutMs?: number;
  readonly what: string;
}

const POLL_MS = 10;

/** What is left of a type when a condition has found it truthy. */
type Truthy<T> = Exclude<T, null | undefined | false | 0 | "">;

/**
 * Waits until `condition` gives something truthy and returns it. A condition that throws counts as
 * "not yet"; its last error is told when the time is over. This is the one place in the tests that polls.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, what }: UntilOptions,
): Promise<Truthy<T>> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as Truthy<T>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: lastError });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
