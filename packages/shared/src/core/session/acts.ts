/**
 * The acts of people and programs on a session: which records they are, when the same was done before, and what a refusal says.
 * It owns the words that every way to a session says alike. It never writes, and never judges a record: the fold does.
 *
 * K1. What was done before is no refusal: an equal repeat of a decision, a second pause, a cancel of what was cancelled.
 * K2. A session on hold takes no act: what was told as refused must not count once a later release reads it.
 */
import type { Digest, Epoch } from "../brand.ts";
import type { HumanDecision } from "../events/approval-decided.ts";
import type { Actor } from "../events/envelope.ts";
import type { DataOf } from "../events/index.ts";
import type { Json } from "../json.ts";
import { isAnswered } from "./checkpoints.ts";
import type { Verdict } from "./evolve.ts";
import { lookUp } from "./persistent-map.ts";
import type { Effect, SessionState, VoidReason } from "./state.ts";

type ActType = "cancel_requested" | "pause_requested" | "resumed" | "guidance" | "budget_raised" | "checkpoint_requested" | "approval_decided" | "reconciled";
export type Act = { readonly [T in ActType]: { readonly type: T; readonly data: DataOf<T> } }[ActType];

interface Decision {
  readonly checkpoint: string;
  readonly decision: HumanDecision;
  /** Of what the person was shown. */
  readonly digest: string;
  readonly comment: string;
  /** For MODIFY: what is to be done instead. */
  readonly action?: Json | undefined;
}
export function decisionOf({ checkpoint, decision, digest, comment, action }: Decision): Act {
  return { type: "approval_decided", data: { checkpoint, decision, digest: digest as Digest, comment, ...(action !== undefined && { action }) } };
}

interface Finding {
  readonly effect: Effect;
  readonly outcome: "happened" | "did_not_happen";
  /** The epoch under which it was found. */
  readonly epoch: Epoch;
  readonly evidence: Json;
  /** What a look that fenced the target found; null without one. */
  readonly look: Json;
  readonly by: string;
  readonly result?: Json | undefined;
}
export function reconciliationOf({ effect, outcome, epoch, evidence, look, by, result }: Finding): Act {
  const said: Json = look === null ? evidence : { said: evidence, look };
  return { type: "reconciled", data: { intent: effect.intent, key: effect.key, epoch, outcome, evidence: said, by, ...(result !== undefined && { result }) } };
}

/** Why an act does not count; `detail` is what holds a session. */
export interface Refused {
  readonly reason: VoidReason | "held";
  readonly detail: string;
}

/** Null: it counts. */
export function refusedBy(verdict: Verdict): Refused | null {
  switch (verdict.kind) {
    case "accepted": return null;
    case "held": return { reason: "held", detail: verdict.detail };
    case "void": return { reason: verdict.reason, detail: "" };
  }
}

/** Refused before it is written; null: it may be asked for. */
export function refusedBefore(state: SessionState): Refused | null {
  return state.hold && { reason: "held", detail: state.hold.detail };
}

/** Done before, so that nothing has to be written. */
export function isDone(act: Act, state: SessionState): boolean {
  return act.type === "cancel_requested" && state.end?.disposition === "cancelled";
}

/** What was asked for is so already, although this record of it does not count. */
export function isRepeat(act: Act, { reason }: Refused, state: SessionState): boolean {
  if (isDone(act, state)) return true;
  if (act.type === "approval_decided" && reason === "after_end") return isAnswered(state, act.data);
  return reason === "duplicate";
}

/** What a refusal comes from; what to do about it depends on this, and on where one stands. */
type Ground =
  | "held" | "expired" | "over" | "handed_off" | "over_already" | "handed_off_already" | "asked_oneself" | "four_eyes" | "decided" | "not_shown" | "decision_refused"
  | "nothing_to_resume" | "asked_for" | "claimed" | "not_unknown" | "refused";
export interface Refusal {
  readonly ground: Ground;
  /** One or two sentences, and the reason of the closed list. */
  readonly message: string;
}

interface Circumstances { readonly state: SessionState; readonly actor: Pick<Actor, "id"> }

export function refusalOf(act: Act, { reason, detail }: Refused, at: Circumstances): Refusal {
  if (reason === "held") return { ground: "held", message: `The session holds a record that this release does not know: ${detail}.` };
  const { ground, message } = refusalFor(act, reason, at);
  return { ground, message: `${message} (void: ${reason})` };
}

function refusalFor(act: Act, reason: VoidReason, { state, actor }: Circumstances): Refusal {
  if (act.type === "approval_decided" && lookUp(state.checkpoints, act.data.checkpoint)?.decision === "EXPIRED") {
    return { ground: "expired", message: `Checkpoint ${act.data.checkpoint} expired before this answer: nobody answered in time.` };
  }
  if (reason === "after_end") return act.type === "cancel_requested" ? nothingToCancel(state) : afterEnd(state);
  switch (act.type) {
    case "approval_decided": return decisionRefused(act.data.checkpoint, reason, { state, actor });
    case "resumed": return { ground: "nothing_to_resume", message: "There is nothing to resume: the session is not paused and waits for no handler, check or evidence." };
    case "checkpoint_requested": return { ground: "asked_for", message: `A decision is asked for already: ${state.pending.join(", ")}.` };
    case "reconciled":
      return reason === "stale_epoch" ? { ground: "claimed", message: "Another owner claimed the session meanwhile." }
        : { ground: "not_unknown", message: "This effect is not unknown any more, or its call window is not over." };
    case "cancel_requested": case "pause_requested": case "guidance": case "budget_raised":
      return { ground: "refused", message: `The ledger refused it: ${meanings[reason]}.` };
  }
}

/** What has ended is worked on by nobody. */
function nothingToCancel(state: SessionState): Refusal {
  return { ground: reopens(state) ? "handed_off_already" : "over_already", message: `The session is ${endOf(state)}: nobody works on it any more, and there is nothing to cancel.` };
}
function afterEnd(state: SessionState): Refusal {
  return { ground: reopens(state) ? "handed_off" : "over", message: `The session is ${endOf(state)}: it takes no more of this.` };
}
function endOf({ end, seq }: SessionState): string {
  const standing = end ? `${end.disposition.replaceAll("_", " ")}${end.reason === null || end.reason === end.disposition ? "" : ` (${end.reason})`}` : "over";
  return `${standing} since seq ${end?.seq ?? seq}`;
}
function reopens({ end }: SessionState): boolean {
  return end?.disposition === "handed_off" && end.reason !== "approval_rejected";
}

function decisionRefused(checkpoint: string, reason: VoidReason, { state, actor }: Circumstances): Refusal {
  const known = lookUp(state.checkpoints, checkpoint);
  if (reason === "forbidden") {
    return known?.requestedBy === actor.id || known?.calledBy === actor.id
      ? { ground: "asked_oneself", message: `${actor.id} asked for this decision and may not give it.` }
      : { ground: "four_eyes", message: `The goal wants four eyes: ${actor.id} submitted it and may not decide.` };
  }
  if (known?.decision) {
    return { ground: "decided", message: `Checkpoint ${checkpoint} was decided before: ${known.decision}. The first answer counts; this one is kept on the ledger, refused.` };
  }
  if (reason === "key_conflict") return { ground: "not_shown", message: `What checkpoint ${checkpoint} asks for is not what was shown to you.` };
  return { ground: "decision_refused", message: `The ledger refused the answer: ${meanings[reason]}.` };
}

const meanings: Readonly<Record<VoidReason, string>> = {
  stale_epoch: "another owner has claimed the session since", rival: "another claim came first", duplicate: "the same was done before",
  gap: "a record before it is missing", malformed: "the record does not fit its form", forbidden: "this principal may not do it",
  not_owed: "nothing of the kind is asked for", wrong_cycle: "it does not fit the cycle that is open", not_armed: "no such timer is armed",
  suspended: "the session is suspended", after_end: "the session has ended", key_conflict: "the same key stands for something else",
};
