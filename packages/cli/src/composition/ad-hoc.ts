/** Commands that a `run` brings itself: goals find them under names that start with `run/`, and only that `run` can run them. */
import type { SessionState } from "@loopledger/shared/core/session/state";

export const adHocPrefix = "run/";

/** The goal names commands that only a `run` with the same words has. */
export function isAdHoc(state: SessionState): boolean {
  const goal = state.submission?.goal;
  if (!goal) return false;
  const makers = typeof goal.maker === "string" ? [goal.maker] : Object.values(goal.maker);
  return [...makers, goal.check].some((name) => name.startsWith(adHocPrefix));
}
