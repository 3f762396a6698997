/** The exit codes of every process. Scripts rely on them: adding is fine, changing is not. */
import type { Disposition, Reason } from "@loopledger/shared/core/events/fields";

export const exitCodes = {
  done: 0,
  failed: 1,
  /** Bad input or usage; an unknown session. */
  usage: 2,
  /** A person must act. */
  person: 3,
  budget: 4,
  handedOff: 5,
  cancelled: 6,
  /** The ledger or the gateway cannot be reached. */
  unreachable: 7,
  /** Still running, or the wait's time is over. */
  running: 8,
  /** Held by another live process. */
  held: 9,
  interrupted: 130,
} as const;
export type ExitCode = number;

export interface Standing {
  readonly disposition: Disposition;
  readonly reason: Reason | null;
}

/** The code of a session's status, as `run`, `wait`, `submit --wait`, `status --exit-code` and `dev --once` leave with it. */
export function exitCodeOf({ disposition, reason }: Standing): ExitCode {
  switch (disposition) {
    case "done": return exitCodes.done;
    case "failed": return reason === "incomplete_tool_turn" ? exitCodes.person : exitCodes.failed;
    case "handed_off": return exitCodes.handedOff;
    case "cancelled": return exitCodes.cancelled;
    case "running": return exitCodes.running;
    case "waiting": return exitCodeOfWaiting(reason);
  }
}

/** A session that waits for its own timer or for its children goes on by itself. */
function exitCodeOfWaiting(reason: Reason | null): ExitCode {
  if (reason === "budget_exhausted") return exitCodes.budget;
  return reason === "retry" || reason === "children" ? exitCodes.running : exitCodes.person;
}

/** It has ended, or goes on only after somebody has acted. */
export function isAtRest(standing: Standing): boolean {
  return exitCodeOf(standing) !== exitCodes.running;
}
