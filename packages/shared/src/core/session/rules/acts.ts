/**
 * What people and programs outside ask for. An act is accepted once by its id; it never changes the goal, and never says what happened
 * unless it is a reconciliation.
 */
import type { Seq } from "../../brand.ts";
import { callFor } from "../checkpoints.ts";
import { proceed } from "../continuation.ts";
import { end, endsUnknown } from "../endings.ts";
import { closeInnerNodes, nextNode, withLeaf } from "../plan.ts";
import type { SessionState, Suspension } from "../state.ts";
import { rootLeaf, rulesKnown } from "../state.ts";
import { expire } from "./decisions.ts";
import type { Rules, Submitted } from "./rule.ts";

type ActType = "cancel_requested" | "pause_requested" | "checkpoint_requested" | "rules_raised" | "resumed" | "guidance" | "budget_raised";
/** Reasons of a hand-off that `resumed` re-opens. */
const final: ReadonlySet<string> = new Set(["approval_rejected"]);

export const actRules: Rules<ActType | "timer_fired" | "tick" | "learning"> = {
  cancel_requested(state, _record, by) {
    if (state.cancel) return "duplicate";
    const asked: SessionState = { ...state, cancel: { seq: (state.seq + 1) as Seq, since: by.time } };
    return state.unsettled.length > 0 ? asked : end(asked, by, { disposition: "cancelled", reason: "cancelled" });
  },
  pause_requested(state, record, by) {
    if (state.pause && (state.pause.now || !record.data.now)) return "duplicate";
    return { ...state, pause: { now: record.data.now, seq: (state.seq + 1) as Seq, since: by.time } };
  },
  checkpoint_requested(state, record, by) {
    if (state.end) return "after_end";
    if (state.requestOwed || state.pending.length > 0) return "not_owed";
    return callFor(state, by, { trigger: "external", action: { continue: true, reason: record.data.reason }, expires: null, by: record.actor.id });
  },
  rules_raised(state, record) {
    return record.data.rules <= state.rules || record.data.rules > rulesKnown ? "not_owed" : { ...state, rules: record.data.rules };
  },
  resumed(state, record, by) {
    if (state.end && !endsUnknown(state.end)) return reopen(state, by);
    const { suspension } = state;
    const needsRaise = suspension?.reason === "budget_exhausted";
    if (!state.pause && (!suspension || needsRaise)) return "not_owed";
    const accepted = record.data.acceptCheck && suspension?.reason === "check_changed" ? acceptCheck(state, suspension) : state;
    return { ...accepted, pause: null, suspension: needsRaise ? suspension : null };
  },
  guidance: (state, record) => ({ ...state, guidance: [...state.guidance, record.data.text].slice(-20) }),
  budget_raised(state, record) {
    const { raised } = state.spending;
    const add = (of: keyof typeof raised): number => raised[of] + (record.data[of] ?? 0);
    return {
      ...state, suspension: state.suspension?.reason === "budget_exhausted" ? null : state.suspension,
      spending: { ...state.spending, raised: { iterations: add("iterations"), costUsd: add("costUsd"), tokens: add("tokens"), wallSeconds: add("wallSeconds") } },
    };
  },

  /** Accepted once per arming record, while armed, and due by its own append time. */
  timer_fired(state, record, by) {
    const timer = state.timers.find((one) => one.armedBy === record.data.timer);
    if (!timer || record.cause?.eventId !== timer.armedBy || timer.kind !== record.data.kind || by.time < timer.dueAt) return "not_armed";
    const fired: SessionState = { ...state, timers: state.timers.filter((one) => one !== timer) };
    switch (timer.kind) {
      case "retry":
        return {
          ...fired, open: fired.open && { ...fired.open, attempts: fired.open.attempts + 1 },
          spending: fired.owner && !fired.end ? { ...fired.spending, runningSince: by.time } : fired.spending,
        };
      case "check": return proceed(fired, by);
      case "approval": return timer.checkpoint === null ? "not_armed" : expire(fired, timer.checkpoint, by);
    }
  },
  tick: (state) => state,
  learning(state, record) {
    return state.lastCheck?.eventId === record.data.check ? state : "not_owed";
  },
};

/**
 * Re-opens what was handed off: a fresh breaker window, the same budget; the resumption is the cause of what the tree calls for.
 * Where all of it is verified, its receipt was never written: the goal's check runs again. An open child is waited for first.
 */
function reopen(state: Submitted, by: Parameters<Rules<"resumed">["resumed"]>[2]): SessionState | "after_end" {
  if (state.end?.disposition !== "handed_off" || final.has(state.end.reason ?? "")) return "after_end";
  const open: SessionState = {
    ...state, end: null, statusOwed: null, owner: null, checkTries: 0,
    failures: { ...state.failures, build: [], check: [], remaining: null },
  };
  if (Object.values(open.children).some((child) => child.open)) return open;
  const verified = nextNode(closeInnerNodes(open)) === null;
  return proceed(verified ? withLeaf(open, rootLeaf, { status: "unverified" }) : open, by);
}

function acceptCheck(state: SessionState, suspension: Suspension): SessionState {
  const detail = suspension.detail as { readonly check?: unknown; readonly found?: unknown; readonly pinned?: unknown } | null;
  if (typeof detail?.check !== "string" || typeof detail.found !== "string") return state;
  const pinned = Array.isArray(detail.pinned) ? detail.pinned.filter((one): one is string => typeof one === "string") : [];
  return { ...state, pins: { ...state.pins, [detail.check]: { digest: detail.found as never, pinned } } };
}

