/**
 * The same goal under the same id goes on, whatever it may cost now: budgets are ceilings and no part of what is wanted. One that is
 * asked for later is raised to, and never lowered.
 */
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { budgetOf } from "@loopledger/shared/core/budget/budget";
import type { Goal } from "@loopledger/shared/core/events/goal";
import { canonicalJson } from "@loopledger/shared/core/json";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { type Engine, appendAct } from "@loopledger/shared/runtime";

export function isSameGoal(one: Goal, other: Goal): boolean {
  const wanted = ({ budget: _ceiling, id: _id, ...goal }: Goal): string => canonicalJson(goal as never);
  return wanted(one) === wanted(other);
}

const names = { iterations: "iterations", costUsd: "cost in USD", tokens: "tokens", wallSeconds: "running time in seconds" } as const;
type Bound = keyof typeof names;

export interface Raising {
  readonly asked: Goal["budget"];
  readonly actor: Actor;
  readonly note: (text: string) => void;
}

/** Raises what the session has to what is asked; says what was done, and what was not. */
export async function raiseTo(engine: Engine, state: SessionState, { asked, actor, note }: Raising): Promise<void> {
  const before = state.submission?.goal.budget;
  const data: Partial<Record<Bound, number>> = {};
  for (const bound of Object.keys(names) as Bound[]) {
    const wanted = asked?.[bound];
    const { limit } = budgetOf(state)[bound];
    if (wanted === undefined || wanted === null || wanted === before?.[bound] || wanted === limit) continue;
    if (limit !== null && wanted > limit) data[bound] = wanted - limit;
    else note(`  The session keeps its budget: ${names[bound]} ${limit ?? "without a limit"}. A budget is only ever raised.`);
  }
  if (Object.keys(data).length === 0) return;
  const verdict = await appendAct(engine, state.sessionId, { type: "budget_raised", data, actor });
  const said = Object.entries(data).map(([bound, by]) => `${names[bound as Bound]} +${by}`).join(", ");
  note(verdict.kind === "accepted" ? `  The budget is raised: ${said}.` : `  The budget was not raised: the ledger refuses it (${verdict.kind === "void" ? verdict.reason : verdict.kind}).`);
}
