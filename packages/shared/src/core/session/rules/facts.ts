/** Facts of a cycle that decide little: observations, model calls, reservations, compactions, errors, and an owner's request for a decision. */
import type { LedgerRecord } from "../../events/envelope.ts";
import { digestOf } from "../../json.ts";
import { canReserve, spend, spentToTheLast } from "../../budget/budget.ts";
import { callAtCost, expiryOf, nextSeq, open, withArgsDigest } from "../checkpoints.ts";
import { unsettledBefore } from "../endings.ts";
import { lookUp } from "../persistent-map.ts";
import type { SessionState } from "../state.ts";
import { decideEarly } from "./decisions.ts";
import type { Judged, Judging, Rules } from "./rule.ts";

export const factRules: Rules<"grounding" | "model" | "reserved" | "compaction"> = {
  /** A gap of a scope stays until a later observation of the same scope is whole. */
  grounding(state, record) {
    const { scope, outcome } = record.data;
    const gap = outcome === "partial" || outcome === "stale" || outcome === "failed" || record.data.pagination?.complete === false;
    if (!gap && !Object.hasOwn(state.gaps, scope)) return state;
    const gaps = { ...state.gaps };
    delete gaps[scope];
    return { ...state, gaps: gap ? { ...gaps, [scope]: outcome } : gaps };
  },
  model(state, record, by) {
    if (unsettledBefore(state).length > 0) return "suspended";
    if (spentToTheLast(state) && !isReserved(state, record.data.usage.reservation)) return "suspended";
    return callAtCost(state, { ...state, spending: spend(state.spending, record.data.usage) }, by);
  },
  reserved(state, record) {
    const { id, amounts } = record.data;
    if (Object.hasOwn(state.spending.reservations, id)) return "duplicate";
    if (spentToTheLast(state) || !canReserve(state, amounts)) return "suspended";
    const reservations = { ...state.spending.reservations, [id]: { amounts, epoch: state.epoch } };
    return { ...state, spending: { ...state.spending, reservations } };
  },
  compaction: (state) => state,
};

/** It was set aside before the budget was used up, so that it is in flight and is settled. */
function isReserved(state: SessionState, id: string | undefined): boolean {
  return id !== undefined && Object.hasOwn(state.spending.reservations, id);
}

/** The request of an owner (before a protected tool, or for a call that was worded anew) or of the policy. */
export function requestApproval(state: SessionState, record: LedgerRecord & { type: "approval_requested" }, by: Judging & { readonly calledBy?: string | undefined }): Judged {
  const { checkpoint, trigger, action, digest, expires } = record.data;
  if (lookUp(state.checkpoints, checkpoint)?.request) return "duplicate";
  if (digestOf(action, by.sha256) !== digest) return "malformed";
  const requested = open(state, {
    id: checkpoint, trigger, action: withArgsDigest(action, by), digest, requestedBy: record.actor.id, calledBy: by.calledBy ?? null, request: record.eventId,
    seq: nextSeq(state), since: by.time, expiresAt: expiryOf(expires, by.time),
  });
  return decideEarly(state, requested, { checkpoint, by });
}
