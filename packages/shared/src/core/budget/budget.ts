/**
 * Ceilings. What is used up holds back what would need more of it; it never ends a session and never looks like done.
 *
 * B1. An iteration is charged once, by the accepted build dispatch, over all takeovers and retries.
 * B2. Cost and tokens reserved by an owner that was fenced off count as spent.
 * B3. Running time counts from a claim (or the dispatch to its owner) to the last record of that epoch; waiting does not count.
 */
import type { Amounts, Cycle, Usage } from "../events/fields.ts";
import type { LogTime } from "../brand.ts";
import type { SessionState, Spending } from "../session/state.ts";

export interface BudgetLine {
  readonly limit: number | null;
  readonly reserved: number;
  readonly spent: number;
  readonly remaining: number | null;
}
export interface BudgetView {
  readonly iterations: BudgetLine;
  readonly costUsd: BudgetLine;
  readonly tokens: BudgetLine;
  /** In seconds. */
  readonly wallSeconds: BudgetLine;
}

function line(limit: number | null, reserved: number, spent: number): BudgetLine {
  return { limit, reserved, spent, remaining: limit === null ? null : atLeastZero(limit - reserved - spent) };
}
function atLeastZero(value: number): number {
  return Math.max(value, 0);
}

export function budgetOf(state: SessionState): BudgetView {
  const b = state.submission?.bounds;
  const s = state.spending;
  const limit = (of: "iterations" | "costUsd" | "tokens" | "wallSeconds"): number | null => {
    const base = b?.[of] ?? null;
    return base === null ? null : base + s.raised[of];
  };
  const held = Object.values(s.reservations);
  const sum = (of: "costUsd" | "tokens"): number => held.reduce((total, one) => total + (one.amounts[of] ?? 0), 0);
  const running = state.open?.cycle === "build" ? 1 : 0;
  return {
    iterations: line(limit("iterations"), running, s.iterations - running),
    costUsd: line(limit("costUsd"), sum("costUsd"), s.costUsd),
    tokens: line(limit("tokens"), sum("tokens"), s.tokens),
    wallSeconds: line(limit("wallSeconds"), 0, s.runningMs / 1000),
  };
}

/** Which budget a dispatch of this cycle would need and has not; null = it may be dispatched. */
export function exhaustedFor(state: SessionState, cycle: Cycle): keyof BudgetView | null {
  const budget = budgetOf(state);
  const needed: readonly (keyof BudgetView)[] = cycle === "build" ? ["iterations", "costUsd", "tokens", "wallSeconds"] : ["wallSeconds"];
  return needed.find((of) => budget[of].remaining !== null && budget[of].remaining <= 0) ?? null;
}

/** What is spent to the last, so that an open cycle may begin nothing more; what is merely reserved does not count. */
export function spentToTheLast(state: SessionState): "costUsd" | "tokens" | null {
  const budget = budgetOf(state);
  const isSpent = ({ limit, spent }: BudgetLine): boolean => limit !== null && spent >= limit;
  return isSpent(budget.costUsd) ? "costUsd" : isSpent(budget.tokens) ? "tokens" : null;
}

export function canReserve(state: SessionState, amounts: Amounts): boolean {
  const budget = budgetOf(state);
  const fits = (remaining: number | null, wanted: number | undefined): boolean => remaining === null || (wanted ?? 0) <= remaining;
  return fits(budget.costUsd.remaining, amounts.costUsd) && fits(budget.tokens.remaining, amounts.tokens);
}

/** Adds what a record says that it used; a named reservation is settled by it. */
export function spend(spending: Spending, usage: Usage): Spending {
  const reservations = { ...spending.reservations };
  if (usage.reservation !== undefined) delete reservations[usage.reservation];
  return {
    ...spending, reservations,
    costUsd: spending.costUsd + (usage.costUsd ?? 0),
    tokens: spending.tokens + (usage.tokensIn ?? 0) + (usage.tokensOut ?? 0),
  };
}

/** A new owner stands in: what the former reserved and did not settle counts as spent. */
export function forfeit(spending: Spending): Spending {
  const held = Object.values(spending.reservations);
  if (held.length === 0) return spending;
  return {
    ...spending, reservations: {},
    costUsd: held.reduce((total, one) => total + (one.amounts.costUsd ?? 0), spending.costUsd),
    tokens: held.reduce((total, one) => total + (one.amounts.tokens ?? 0), spending.tokens),
  };
}

export function startRunning(spending: Spending, at: LogTime): Spending {
  return { ...spending, runningSince: at };
}
export function countRunning(spending: Spending, at: LogTime, goesOn: boolean): Spending {
  if (spending.runningSince === null) return spending;
  return { ...spending, runningMs: spending.runningMs + (at - spending.runningSince), runningSince: goesOn ? at : null };
}
/** Nobody runs any more; what ran until here has been counted. */
export function stopRunning(spending: Spending): Spending {
  return spending.runningSince === null ? spending : { ...spending, runningSince: null };
}
