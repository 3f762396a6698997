/** How long a request waits for the ledger to take what it asks for. */
import type { Engine } from "@loopledger/shared/runtime";

/** As long as a command does, in ms. */
const patienceMs = 4_000;

/**
 * The engine with the patience of a caller: what carries sessions sends until the ledger answers again, and a request ends with
 * the ledger's own error and what to do about it. What was not acknowledged may be sent again, best under an Idempotency-Key.
 */
export function patient(engine: Engine): Engine {
  return { ...engine, patienceMs: Math.min(engine.patienceMs, patienceMs) };
}
