/**
 * Which handlers does a goal name? Owns the walk over its makers, its checks and what guards it; it never knows which handlers there are.
 */
import type { Goal, Leaf } from "../events/goal.ts";

export interface HandlerNames {
  readonly makers: readonly string[];
  readonly checks: readonly string[];
  /** Before whose calls a person is to be asked. */
  readonly tools: readonly string[];
  readonly gates: readonly string[];
}

/** Each handler that the goal names, once. A guard that is not there would be passed without a word, so it is needed as much as a maker. */
export function handlersNamed(goal: Pick<Goal, "maker" | "check" | "leaves" | "policy">): HandlerNames {
  const makers = typeof goal.maker === "string" ? [goal.maker] : Object.values(goal.maker);
  const before = (goal.policy?.approvals ?? []).flatMap((trigger) => ("before" in trigger ? [trigger.before] : []));
  return {
    makers: [...new Set(makers)], checks: [...new Set([goal.check, ...leafChecks(goal.leaves ?? [])])], tools: [...new Set(before)], gates: [...new Set(goal.policy?.gates ?? [])],
  };
}
function leafChecks(leaves: readonly Leaf[]): string[] {
  return leaves.flatMap((leaf) => [...(leaf.check === undefined ? [] : [leaf.check]), ...leafChecks(leaf.leaves ?? [])]);
}
