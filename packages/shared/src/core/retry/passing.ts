/**
 * Faults of the surroundings that pass by themselves or that an operator mends: they say nothing of a maker, a check or a tool,
 * so no attempt is charged for them and no breaker counts them. What met one is tried again like any transient failure.
 */
import { isLoopledgerError } from "../errors.ts";

/** The host is short of something, or its disk takes no more writes. */
const shortages: ReadonlySet<string> = new Set([
  "EAGAIN", "ENOMEM", "EMFILE", "ENFILE", "EBUSY", "ETXTBSY", "ENOSPC", "EDQUOT", "EROFS", "EIO",
]);

/** The name by which the operating system, or a store of ours, says so; null where the fault is another one. */
export function passingFault(error: unknown): string | null {
  if (isLoopledgerError(error)) return error.then === "retry" ? error.code : null;
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && shortages.has(code) ? code : null;
}
