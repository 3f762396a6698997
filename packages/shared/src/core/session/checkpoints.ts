/**
 * Places where a human must decide. One that the goal's policy calls for is derived at the record that calls for it;
 * from there no dispatch, and after the last PASS no receipt, is accepted until the decision.
 */
import type { LogTime, Seq } from "../brand.ts";
import type { CheckpointTrigger } from "../events/approval-requested.ts";
import { type Json, type JsonObject, digestOf } from "../json.ts";
import { derivedId } from "../fencing/ids.ts";
import type { Bringing } from "./endings.ts";
import { owe, owedDispatch } from "./owed.ts";
import { lookUp, put } from "./persistent-map.ts";
import type { Checkpoint, SessionState, Timer } from "./state.ts";

interface Call { readonly trigger: CheckpointTrigger; readonly action: Json; readonly expires: number | null; readonly by?: string }

/** Owes a request and holds the session back from here on. The slot is one: a second call while one is open adds nothing. */
export function callFor(state: SessionState, by: Bringing, call: Call): SessionState {
  if (state.requestOwed || state.end) return state;
  const id = `cp-${derivedId({ sessionId: state.sessionId, cause: by.eventId, what: call.trigger }, by.sha256).slice(0, 16)}`;
  const content = { checkpoint: id, trigger: call.trigger, action: call.action, digest: digestOf(call.action, by.sha256), expires: call.expires };
  return {
    ...state, pending: [...state.pending, id],
    requestOwed: { ...owe(state, { cause: by.eventId, what: "approval_requested", content }, by.sha256), ...(call.by !== undefined && { by: call.by }) },
  };
}

type Policy = "everyIterations" | "onFailure" | "onPlanComplete" | "costUsd" | "before";
/** The policy's entry of one kind, as the goal spells it. */
export function triggersOf<P extends Policy>(state: SessionState, kind: P): { readonly value: unknown; readonly expires: number | null }[] {
  const approvals = state.submission?.goal.policy?.approvals;
  // Most goals have none, and every verdict asks for several kinds.
  if (approvals === undefined || approvals.length === 0) return [];
  return approvals.flatMap((one) => {
    const spelled = one as Readonly<Record<string, unknown>>;
    return Object.hasOwn(spelled, kind) ? [{ value: spelled[kind], expires: one.expiresSeconds ?? null }] : [];
  });
}

/** Before another build is dispatched: does the policy want a human after the iteration that was? */
export function callAfterIteration(state: SessionState, by: Bringing): SessionState {
  if (owedDispatch(state)?.cycle !== "build") return state;
  const due = triggersOf(state, "everyIterations").find((one) => state.iteration > 0 && state.iteration % (one.value as number) === 0);
  return due ? callFor(state, by, { trigger: "every_iterations", action: { continue: true, iteration: state.iteration }, expires: due.expires }) : state;
}
export function callAtPlanComplete(state: SessionState, by: Bringing): SessionState {
  const due = triggersOf(state, "onPlanComplete")[0];
  return due ? callFor(state, by, { trigger: "on_plan_complete", action: { complete: true }, expires: due.expires }) : state;
}
export function callAtCost(before: SessionState, after: SessionState, by: Bringing): SessionState {
  const due = triggersOf(after, "costUsd").find((one) => before.spending.costUsd < (one.value as number) && after.spending.costUsd >= (one.value as number));
  return due ? callFor(after, by, { trigger: "cost", action: { continue: true, costUsd: due.value as number }, expires: due.expires }) : after;
}
export function callOnFailure(state: SessionState, by: Bringing, failure: { readonly major: boolean; readonly why: string }): SessionState | null {
  const due = triggersOf(state, "onFailure").find((one) => one.value === "any" || failure.major);
  return due ? callFor(state, by, { trigger: "on_failure", action: { retry: true, why: failure.why }, expires: due.expires }) : null;
}

export interface Requested {
  readonly checkpoint: Omit<Checkpoint, "answeredBy" | "decision" | "approvedAction" | "servedKey">;
}
/** The request is on the ledger: it is shown, its expiry is armed, and an answer that came before it is matched. */
export function open(state: SessionState, requested: Requested["checkpoint"]): SessionState {
  const timer: Timer[] = requested.expiresAt === null || requested.request === null ? []
    : [{ armedBy: requested.request, kind: "approval", dueAt: requested.expiresAt, checkpoint: requested.id }];
  const checkpoint: Checkpoint = { ...requested, answeredBy: null, decision: null, approvedAction: null, servedKey: null };
  return {
    ...state, checkpoints: put(state.checkpoints, requested.id, checkpoint), timers: [...state.timers, ...timer],
    pending: state.pending.includes(requested.id) ? state.pending : [...state.pending, requested.id],
  };
}

/** The checkpoint no longer holds the session back, and its timer is disarmed. */
export function release(state: SessionState, id: string): SessionState {
  return {
    ...state, pending: state.pending.filter((one) => one !== id), timers: state.timers.filter((timer) => timer.checkpoint !== id),
  };
}

/** A requested checkpoint whose decision lets exactly this action through, under no other key than it has served already. */
export function approvalFor(state: SessionState, id: string, action: { tool: string; argsDigest: string; key: string }): Checkpoint | null {
  const checkpoint = lookUp(state.checkpoints, id);
  if (!checkpoint || checkpoint.request === null || (checkpoint.servedKey !== null && checkpoint.servedKey !== action.key)) return null;
  if (checkpoint.decision !== "APPROVE" && checkpoint.decision !== "MODIFY") return null;
  const approved = checkpoint.approvedAction as { readonly tool?: Json; readonly argsDigest?: Json } | null;
  return approved?.tool === action.tool && approved.argsDigest === action.argsDigest ? checkpoint : null;
}

/** The same answer was given and counted before, whatever has become of the session since. A changed action has to be compared by the fold. */
export function isAnswered(state: SessionState, answer: { readonly checkpoint: string; readonly decision: string; readonly digest: string }): boolean {
  const known = lookUp(state.checkpoints, answer.checkpoint);
  return answer.decision !== "MODIFY" && known?.request != null && known.decision === answer.decision && known.digest === answer.digest;
}

export function expiryOf(expires: number | null, at: LogTime): LogTime | null {
  return expires === null ? null : ((at + expires * 1000) as LogTime);
}
export function nextSeq(state: SessionState): Seq {
  return (state.seq + 1) as Seq;
}

/** A tool action carries the digest of its arguments, so that what runs can be compared with what was approved. */
export function withArgsDigest(action: Json, by: Pick<Bringing, "sha256">): Json {
  if (action === null || typeof action !== "object" || Array.isArray(action)) return action;
  const members = action as JsonObject;
  return members["tool"] === undefined ? action : { ...members, argsDigest: digestOf(members["args"] ?? null, by.sha256) };
}
