/**
 * What follows: which cycle the tree calls for, and what a failure leads to. Every owed dispatch is made here.
 */
import { judge } from "../retry/breaker.ts";
import type { Reason } from "../events/fields.ts";
import { callOnFailure } from "./checkpoints.ts";
import { type Bringing, handOff } from "./endings.ts";
import { owe } from "./owed.ts";
import { closeInnerNodes, leafOf, nextNode } from "./plan.ts";
import type { Failures, Owed, SessionState } from "./state.ts";
import { rootLeaf } from "./state.ts";

export function owesBuild(state: SessionState, by: Bringing, at: { leaf: string; task: string }): SessionState {
  return { ...state, owed: buildOwed(state, by, at) };
}
export function owesReview(state: SessionState, by: Bringing, leaf: string): SessionState {
  return { ...state, owed: reviewOwed(state, by, leaf) };
}
/** What `owesBuild` puts into the state's slot. */
export function buildOwed(state: SessionState, by: Bringing, at: { leaf: string; task: string }): Owed {
  const content = { cycle: "build", leaf: at.leaf, iteration: state.iteration + 1, task: at.task } as const;
  return owe(state, { cause: by.eventId, what: "dispatched", content }, by.sha256);
}
/** What `owesReview` puts there. */
export function reviewOwed(state: SessionState, by: Bringing, leaf: string): Owed {
  const content = { cycle: "review", leaf, iteration: state.iteration, task: leafOf(state, leaf).task } as const;
  return owe(state, { cause: by.eventId, what: "dispatched", content }, by.sha256);
}

/** The next actionable leaf in tree order: open or needs-rework is built, unverified is reviewed. */
export function proceed(state: SessionState, by: Bringing): SessionState {
  if (state.failureFirst === "owed") return owesReview(state, by, rootLeaf);
  const closed = closeInnerNodes(state);
  const node = nextNode(closed);
  if (!node) return closed;
  const leaf = leafOf(closed, node.id);
  const inner = node.children.length > 0;
  const review = leaf.status === "unverified" || (leaf.status === "open" && inner);
  return review ? owesReview(closed, by, node.id) : owesBuild(closed, by, { leaf: node.id, task: leaf.task });
}

/** A failure that hands off, unless the policy wants a human to decide; then the session goes on with a fresh window. */
export function major(state: SessionState, by: Bringing, reason: Reason): SessionState {
  const fresh: SessionState = { ...state, failures: { ...state.failures, build: [], check: [] }, checkTries: 0 };
  return callOnFailure(proceed(fresh, by), by, { major: true, why: reason }) ?? handOff(state, by, reason);
}

/** Another failure of one kind: go on, or trip the breaker. */
export function failedAgain(
  state: SessionState, failure: { kind: "build" | "check"; fingerprint: string; improving: boolean; message?: string },
): { readonly failures: Failures; readonly trips: boolean } {
  const same = state.submission?.bounds.breakerSame ?? null;
  const judged = judge(state.failures[failure.kind], failure.fingerprint, { same, improving: failure.improving });
  const failures = { ...state.failures, [failure.kind]: judged.window, last: failure.fingerprint, ...(failure.message !== undefined && { message: failure.message }) };
  return { failures, trips: judged.trips };
}
