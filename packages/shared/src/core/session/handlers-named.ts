/**
 * Which handlers does a goal name? Owns the walk over its makers, its checks and what guards it; it never knows which handlers there are.
 */
import type { Goal, Leaf } from "../events/goal.ts";
import type { SessionState } from "./state.ts";

export interface HandlerNames {
  readonly makers: readonly string[];
  readonly checks: readonly string[];
  /** Before whose calls a person is to be asked. */
  readonly tools: readonly string[];
  readonly gates: readonly string[];
}

/** Each handler that the goal names, once. A guard that is not there would be passed without a word, so it is needed as much as a maker. */
export function handlersNamed(goal: Pick<Goal, "maker" | "check" | "leaves" | "policy">): HandlerNames {
  const makers = makersNamed(goal);
  const before = (goal.policy?.approvals ?? []).flatMap((trigger) => ("before" in trigger ? [trigger.before] : []));
  return {
    makers: [...new Set(makers)], checks: [...new Set([goal.check, ...leafChecks(goal.leaves ?? [])])], tools: [...new Set(before)], gates: [...new Set(goal.policy?.gates ?? [])],
  };
}
function makersNamed({ maker }: Pick<Goal, "maker">): string[] {
  return typeof maker === "string" ? [maker] : Object.values(maker);
}
function leafChecks(leaves: readonly Leaf[]): string[] {
  return leaves.flatMap((leaf) => [...(leaf.check === undefined ? [] : [leaf.check]), ...leafChecks(leaf.leaves ?? [])]);
}

/** Commands that a `run` brings itself have names that begin so: goals find them under these names, and only the same line has them. */
export const runPrefix = "run/";

/** The goal names commands that only a `run` with the same words has. */
export function isOfRun({ submission }: Pick<SessionState, "submission">): boolean {
  return submission !== null && [...makersNamed(submission.goal), submission.goal.check].some((name) => name.startsWith(runPrefix));
}
