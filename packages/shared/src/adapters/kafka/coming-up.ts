/** A group's coordinator that is still coming up: nothing is wrong, and the client asks again. Told only when it lasts. */

/** Milliseconds after which it is told. */
export const COMING_UP_MS = 10_000;
const ASK_AGAIN_MS = 100;
const passing: ReadonlySet<unknown> = new Set(["GROUP_LOAD_IN_PROGRESS", "GROUP_COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR_FOR_GROUP"]);

export class ComingUp {
  #since: number | null = null;

  /** Whether a failure at this time (ms) is worth a line in the log. */
  isWorthTelling(error: unknown, at: number): boolean {
    if (!isPassing(error)) {
      this.#since = null;
      return true;
    }
    this.#since ??= at;
    return at - this.#since >= COMING_UP_MS;
  }

  /** The group has been joined: what comes later begins anew. */
  isUp(): void {
    this.#since = null;
  }
}

/** What the coordinator answers once it is up; where it is not within the time that this may take, and for all other errors, the error is thrown. */
export async function onceUp<T>(ask: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || performance.now() - startedAt >= COMING_UP_MS) throw error;
      await new Promise((again) => {
        setTimeout(again, ASK_AGAIN_MS);
      });
    }
  }
}

/** The client wraps what a broker answered, once or twice. */
function isPassing(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause ?? (at as { readonly originalError?: unknown }).originalError) {
    if (passing.has((at as { readonly type?: unknown }).type)) return true;
  }
  return false;
}
