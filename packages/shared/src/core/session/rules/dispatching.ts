/**
 * What anybody may write because the fold says that it is owed: dispatches, receipts, reports of an end.
 *
 * D1. A cause has at most one accepted dispatch; a void cause has none, also inside one batch.
 * D2. While paused, cancelling or at a checkpoint `owed` is kept and no dispatch is accepted; a used-up budget holds what needs it.
 *     A receipt is no dispatch: only a checkpoint holds it back, because a pause lets the open cycle finish.
 * D3. A dispatch is never accepted beside an open one.
 */
import type { Seq } from "../../brand.ts";
import type { DataOf } from "../../events/index.ts";
import { exhaustedFor, startRunning } from "../../budget/budget.ts";
import { callAtCost } from "../checkpoints.ts";
import { owesReview } from "../continuation.ts";
import { end } from "../endings.ts";
import { meets, owedDispatch } from "../owed.ts";
import { leavesWith, withLeaf } from "../plan.ts";
import { type OpenDispatch, type SessionState, rootLeaf } from "../state.ts";
import type { Rules, Submitted } from "./rule.ts";

/** Why the owed dispatch may not go out yet; null = it may. */
export function heldBack(state: SessionState): "paused" | "cancelling" | "approval" | "budget_exhausted" | "suspended" | null {
  if (state.cancel || state.pendingEnd) return "cancelling";
  if (state.suspension) return "suspended";
  if (state.pause && state.owed?.what !== "receipt") return "paused";
  if (state.pending.length > 0) return "approval";
  const owed = owedDispatch(state);
  return owed && exhaustedFor(state, owed.cycle) ? "budget_exhausted" : null;
}

export const dispatchingRules: Rules<"dispatched" | "receipt" | "child_opened" | "child_refused" | "child_closed"> = {
  dispatched(state, record, by) {
    if (state.end) return "after_end";
    if (by.guards.dedupe && state.open?.eventId === record.eventId) return "duplicate";
    if (by.guards.dedupe && state.open) return "not_owed";
    const mismatch = meets(state.owed, record);
    if (mismatch) return mismatch;
    if (heldBack(state)) return "suspended";
    const { cycle, leaf, iteration, task } = record.data;
    const kept = state.owner?.serves.includes(cycle) ?? false;
    const open: OpenDispatch = {
      eventId: record.eventId, seq: (state.seq + 1) as Seq, cycle, leaf, iteration, task, attempts: kept ? 1 : 0,
      idleTakeovers: 0, nBefore: state.n, claims: 0, retries: 0, lastError: null, since: by.time,
    };
    const spending = kept ? startRunning(state.spending, by.time) : state.spending;
    const owed = by.guards.dedupe ? null : state.owed;
    if (cycle === "review") return { ...state, open, owed, spending };
    return { ...state, open, owed, iteration, spending: { ...spending, iterations: spending.iterations + 1 }, leaves: leavesWith(state, leaf, { task }) };
  },

  receipt(state, record, by) {
    if (state.end) return "after_end";
    const mismatch = meets(state.owed, record);
    if (mismatch) return mismatch;
    if (heldBack(state)) return "suspended";
    const { goalDigest, check, pinned, revision, evidenceDigest } = record.data;
    const receipt = {
      sessionId: state.sessionId, goalDigest, check, pinned, revision, evidenceDigest,
      finalCheckSeq: state.lastCheck?.seq ?? (0 as Seq), ledgerDigest: state.digest, seq: (state.seq + 1) as Seq,
    };
    return { ...end(state, by, { disposition: "done", reason: null }), receipt };
  },

  child_opened(state, record, by) {
    const refused = childMeets(state, record, by.guards.dedupe);
    if (refused) return refused;
    const { child } = record.data;
    return { ...state, owed: null, children: { ...state.children, [child]: { id: child, open: true, disposition: null } } };
  },
  child_refused(state, record, by) {
    const refused = childMeets(state, record, by.guards.dedupe);
    return refused ?? end({ ...state, owed: null }, by, { disposition: "handed_off", reason: "no_progress", error: `child refused: ${record.data.bound}` });
  },
  child_closed(state, record, by) {
    if (state.end) return "after_end";
    const child = Object.hasOwn(state.children, record.data.child) ? state.children[record.data.child] : undefined;
    if (!child?.open || !isEnd(record.data)) return "not_owed";
    const children = { ...state.children, [child.id]: { ...child, open: false, disposition: record.data.disposition } };
    const spent = record.data.spent;
    const spending = {
      ...state.spending, costUsd: state.spending.costUsd + (spent.costUsd ?? 0), tokens: state.spending.tokens + (spent.tokens ?? 0),
    };
    const closed: SessionState = { ...state, children, spending };
    const next = state.open || state.owed ? closed : reviewAgain(closed, by, state.lastCheck?.leaf ?? rootLeaf);
    return callAtCost(state, next, by);
  },
};

/** A child that waits or whose outcome is unknown has not ended for its parent: it may go on. */
function isEnd(closed: DataOf<"child_closed">): boolean {
  const { disposition, reason } = closed;
  return disposition !== "running" && disposition !== "waiting" && reason !== "incomplete_tool_turn";
}

function childMeets(state: Submitted, record: Parameters<typeof meets>[1], dedupe: boolean): ReturnType<typeof meets> | "after_end" | "suspended" {
  if (state.end) return "after_end";
  const mismatch = meets(state.owed, record);
  if (mismatch && dedupe) return mismatch;
  return heldBack(state) ? "suspended" : null;
}

function reviewAgain(state: SessionState, by: Parameters<typeof owesReview>[1], leaf: string): SessionState {
  return owesReview(withLeaf(state, leaf, { status: "unverified" }), by, leaf);
}
