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

function limitOf(state: SessionState, of: keyof BudgetView): number | null {
  const base = state.submission?.bounds[of] ?? null;
  return base === null ? null : base + state.spending.raised[of];
}
function reservedOf(state: SessionState, of: "costUsd" | "tokens"): number {
  const { reservations } = state.spending;
  let total = 0;
  for (const id of Object.keys(reservations)) total += reservations[id]?.amounts[of] ?? 0;
  return total;
}

/** One line of `budgetOf`; whoever asks about a single budget makes no other. */
export function budgetLine(state: SessionState, of: keyof BudgetView): BudgetLine {
  const s = state.spending;
  switch (of) {
    case "iterations": {
      const running = state.open?.cycle === "build" ? 1 : 0;
      return line(limitOf(state, of), running, s.iterations - running);
    }
    case "costUsd": case "tokens": return line(limitOf(state, of), reservedOf(state, of), s[of]);
    case "wallSeconds": return line(limitOf(state, of), 0, s.runningMs / 1000);
  }
}

export function budgetOf(state: SessionState): BudgetView {
  return {
    iterations: budgetLine(state, "iterations"), costUsd: budgetLine(state, "costUsd"), tokens: budgetLine(state, "tokens"),
    wallSeconds: budgetLine(state, "wallSeconds"),
  };
}

const neededFor: { readonly [C in Cycle]: readonly (keyof BudgetView)[] } = {
  build: ["iterations", "costUsd", "tokens", "wallSeconds"], review: ["wallSeconds"],
};
/** Which budget a dispatch of this cycle would need and has not; null = it may be dispatched. */
export function exhaustedFor(state: SessionState, cycle: Cycle): keyof BudgetView | null {
  for (const of of neededFor[cycle]) {
    const { remaining } = budgetLine(state, of);
    if (remaining !== null && remaining <= 0) return of;
  }
  return null;
}

/** What is spent to the last, so that an open cycle may begin nothing more; what is merely reserved does not count. */
export function spentToTheLast(state: SessionState): "costUsd" | "tokens" | null {
  const isSpent = (of: "costUsd" | "tokens"): boolean => {
    const limit = limitOf(state, of);
    return limit !== null && state.spending[of] >= limit;
  };
  return isSpent("costUsd") ? "costUsd" : isSpent("tokens") ? "tokens" : null;
}

export function canReserve(state: SessionState, amounts: Amounts): boolean {
  const fits = (of: "costUsd" | "tokens"): boolean => {
    const { remaining } = budgetLine(state, of);
    return remaining === null || (amounts[of] ?? 0) <= remaining;
  };
  return fits("costUsd") && fits("tokens");
}

/** Adds what a record says that it used; a named reservation is settled by it. */
export function spend(spending: Spending, usage: Usage): Spending {
  if (usage.reservation === undefined && !usage.costUsd && !usage.tokensIn && !usage.tokensOut) return spending;
  return {
    ...spending, reservations: usage.reservation === undefined ? spending.reservations : without(spending.reservations, usage.reservation),
    costUsd: spending.costUsd + (usage.costUsd ?? 0),
    tokens: spending.tokens + (usage.tokensIn ?? 0) + (usage.tokensOut ?? 0),
  };
}

function without(reservations: Spending["reservations"], id: string): Spending["reservations"] {
  const rest = { ...reservations };
  delete rest[id];
  return rest;
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
