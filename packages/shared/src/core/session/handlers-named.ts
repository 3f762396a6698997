/**
 * Which handlers does a goal name? Owns the walk over its makers and checks; it never knows which handlers there are.
 */
import type { Goal, Leaf } from "../events/goal.ts";

export interface HandlerNames {
  readonly makers: readonly string[];
  readonly checks: readonly string[];
}

/** Each maker and each check that the goal names, once. */
export function handlersNamed(goal: Pick<Goal, "maker" | "check" | "leaves">): HandlerNames {
  const makers = typeof goal.maker === "string" ? [goal.maker] : Object.values(goal.maker);
  return { makers: [...new Set(makers)], checks: [...new Set([goal.check, ...leafChecks(goal.leaves ?? [])])] };
}
function leafChecks(leaves: readonly Leaf[]): string[] {
  return leaves.flatMap((leaf) => [...(leaf.check === undefined ? [] : [leaf.check]), ...leafChecks(leaf.leaves ?? [])]);
}
