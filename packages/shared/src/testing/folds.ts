/** Folds for tests: over a list of entries, and with one guard taken away. Nothing but test code switches a guard off. */
import type { SessionId } from "../core/brand.ts";
import { type Guards, guardsOn } from "../core/fencing/guards.ts";
import { type Evolve, type FoldEntry, type Verdict, evolve, makeEvolve } from "../core/session/evolve.ts";
import { type SessionState, emptySession } from "../core/session/state.ts";
import { testSession } from "./records.ts";
import { sha256 } from "./sha256.ts";

export type Guard = keyof Guards;

/** The fold as it would be without this guard: what it holds back then goes wrong. */
export function foldWithout(guard: Guard): Evolve {
  return makeEvolve({ ...guardsOn, [guard]: false });
}

export interface Folded {
  readonly state: SessionState;
  readonly verdicts: readonly Verdict[];
}
export function foldAll(entries: readonly FoldEntry[], with_: { fold?: Evolve; from?: SessionState; sessionId?: SessionId } = {}): Folded {
  const fold = with_.fold ?? evolve;
  let state = with_.from ?? emptySession(with_.sessionId ?? testSession);
  const verdicts = entries.map((entry) => {
    const step = fold(state, entry, sha256);
    state = step.state;
    return step.verdict;
  });
  return { state, verdicts };
}

/** A verdict in one word or two, for tests and traces: `accepted`, `void(rival)`, `held`. */
export function wordFor(verdict: Verdict): string {
  return verdict.kind === "void" ? `void(${verdict.reason})` : verdict.kind;
}
