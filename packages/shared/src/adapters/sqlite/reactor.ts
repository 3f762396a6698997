/** Who keeps a reactor of the ledger going: what it throws is told, and it is called again after a pause until it has worked. */
import type { Clock } from "../../ports/index.ts";

export interface Reactor {
  /** Calls at once; gives what cancels it. */
  now(call: () => unknown, key?: string): () => void;
  /** Calls once after `delayMs`. */
  after(delayMs: number, call: () => unknown, key?: string): () => void;
  /** Something was thrown: calls after a pause. */
  again(error: unknown, call: () => unknown, key?: string): () => void;
  /** Something was thrown by what is called again anyway. */
  failed(error: unknown, key?: string): unknown;
  works(key?: string): void;
}

const pauseMs = 1_000;

/** For a ledger that nobody supervises. */
export function plainReactor(clock: Pick<Clock, "after">, told: (error: unknown) => void): Reactor {
  const after = (delayMs: number, call: () => unknown): (() => void) => {
    let cancel = clock.after(delayMs, () => {
      try {
        call();
      } catch (error) {
        cancel = again(error, call);
      }
    });
    return () => cancel();
  };
  const again = (error: unknown, call: () => unknown): (() => void) => {
    told(error);
    return after(pauseMs, call);
  };
  const now = (call: () => unknown): (() => void) => {
    try {
      call();
      return () => undefined;
    } catch (error) {
      return again(error, call);
    }
  };
  return { now, after, again, failed: told, works: () => undefined };
}
