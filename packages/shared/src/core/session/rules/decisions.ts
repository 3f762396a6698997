/**
 * A person's answer to a checkpoint.
 *
 * P1. It is bound to the digest of what was shown; the requester may not approve, with four eyes neither the submitter nor who called for it.
 * P2. The first decision in log order wins; an equal repeat is a duplicate, a contradicting one a conflict. PAUSE is no decision.
 * P3. An answer that comes before its request is kept and matched, by the same rules; until then it lets nothing through.
 * P4. A changed action that is settled in this leaf already is served by it: it is looked up on the ledger, never made again.
 */
import type { RecordOf } from "../../events/envelope.ts";
import { type Json, type JsonObject, canonicalJson } from "../../json.ts";
import { release, withArgsDigest } from "../checkpoints.ts";
import { owesBuild, owesReview } from "../continuation.ts";
import { endWhenSettled } from "../endings.ts";
import { type DispatchContent, owe, owedDispatch } from "../owed.ts";
import { lookUp, own, put } from "../persistent-map.ts";
import { withLeaf } from "../plan.ts";
import { type Checkpoint, type SessionState, rootLeaf } from "../state.ts";
import type { Judged, Judging, Submitted } from "./rule.ts";

type Decided = RecordOf<"approval_decided">;

export function decided(state: Submitted, record: Decided, by: Judging): Judged {
  const { checkpoint: id, decision, digest } = record.data;
  const known = lookUp(state.checkpoints, id);
  if (state.submission.bounds.fourEyes && record.actor.id === state.submission.submitter.id) return "forbidden";
  if (decision === "MODIFY" && record.data.action === undefined) return "malformed";
  if (known?.decision === "EXPIRED") return "not_owed";
  if (known && known.decision !== null) return saysTheSame(known, record, by) ? "duplicate" : "key_conflict";
  if (!known?.request) return early(state, record, by);
  if (digest !== known.digest) return "key_conflict";
  if (mayNotAnswer(state, known, record.actor.id)) return "forbidden";
  return apply(state, known, { decision, action: record.data.action ?? null, by });
}

/** Who wants to look at something first may look and go on; only where four eyes are wanted must another person do so. */
function mayNotAnswer(state: SessionState, { requestedBy, calledBy }: Checkpoint, who: string): boolean {
  return requestedBy === who || (calledBy === who && state.submission?.bounds.fourEyes === true);
}

function saysTheSame(known: Checkpoint, record: Decided, by: Judging): boolean {
  const { decision, digest, action } = record.data;
  if (known.decision !== decision || known.digest !== digest) return false;
  if (decision !== "MODIFY") return true;
  const wanted = known.request === null ? (action ?? null) : withArgsDigest(action ?? null, by);
  return canonicalJson(known.approvedAction) === canonicalJson(wanted);
}

/** Kept under its checkpoint's id until the request comes. */
function early(state: SessionState, record: Decided, by: Judging): SessionState {
  const { checkpoint: id, decision, digest, action } = record.data;
  if (decision === "PAUSE") return state;
  const kept: Checkpoint = {
    id, trigger: "external", action: null, digest, requestedBy: "", calledBy: null, request: null, answeredBy: record.actor.id, seq: state.seq, since: by.time, expiresAt: null,
    decision, approvedAction: action ?? null, servedKey: null,
  };
  return { ...state, checkpoints: put(state.checkpoints, id, kept) };
}

/** Matches a kept answer with the request that has just been accepted. */
export function decideEarly(before: SessionState, requested: SessionState, at: { checkpoint: string; by: Judging }): SessionState {
  const kept = lookUp(before.checkpoints, at.checkpoint);
  const now = lookUp(requested.checkpoints, at.checkpoint);
  if (!kept?.decision || kept.decision === "EXPIRED" || !now || kept.digest !== now.digest) return requested;
  if (mayNotAnswer(requested, now, kept.answeredBy ?? "")) return requested;
  return apply(requested, now, { decision: kept.decision, action: kept.approvedAction, by: at.by });
}

interface Answer { readonly decision: Decided["data"]["decision"]; readonly action: Json; readonly by: Judging }

function apply(state: SessionState, checkpoint: Checkpoint, answer: Answer): SessionState {
  if (answer.decision === "PAUSE") return state;
  const approvedAction = answer.decision === "APPROVE" ? checkpoint.action : answer.decision === "MODIFY" ? withArgsDigest(answer.action, answer.by) : null;
  const servedKey = answer.decision === "MODIFY" ? settledKey(state, approvedAction) : null;
  const decidedOn: Checkpoint = { ...checkpoint, decision: answer.decision, approvedAction, servedKey: servedKey ?? checkpoint.servedKey };
  const settled = release({ ...state, checkpoints: put(state.checkpoints, checkpoint.id, decidedOn) }, checkpoint.id);
  if (answer.decision === "REJECT") return endWhenSettled(settled, answer.by, "approval_rejected");
  if (answer.decision === "RETRY") return checkAgain(settled, answer.by);
  return answer.decision === "MODIFY" ? retask(settled, approvedAction, answer.by) : settled;
}

/** The key of the call that this action points to, where the open leaf has settled it; by tool and argument digest. */
function settledKey(state: SessionState, action: Json): string | null {
  const { tool, argsDigest } = (action ?? {}) as { readonly tool?: Json; readonly argsDigest?: Json };
  const settled = state.open ? own(state.work, state.open.leaf)?.settled : undefined;
  return settled?.find((one) => one.tool === tool && one.argsDigest === argsDigest)?.key ?? null;
}

/** RETRY of a completion: the check runs again before there is a receipt. */
function checkAgain(state: SessionState, by: Judging): SessionState {
  if (state.owed?.what !== "receipt") return state;
  return owesReview(withLeaf(state, rootLeaf, { status: "unverified" }), { ...by, eventId: state.owed.cause }, rootLeaf);
}

/** A changed task takes the place of the one that is owed, or of the receipt that was. */
function retask(state: SessionState, action: Json, by: Judging): SessionState {
  const task = action !== null && typeof action === "object" && !Array.isArray(action) ? (action as JsonObject)["task"] : undefined;
  const owed = owedDispatch(state);
  if (typeof task !== "string" || !state.owed) return state;
  if (state.owed.what === "receipt") {
    const rework = withLeaf(state, rootLeaf, { status: "needs-rework", task });
    return owesBuild(rework, { ...by, eventId: state.owed.cause }, { leaf: rootLeaf, task });
  }
  if (!owed) return state;
  const content: DispatchContent = { ...owed, task };
  return { ...state, owed: owe(state, { cause: state.owed.cause, what: "dispatched", content: { ...content } }, by.sha256) };
}

export function expire(state: SessionState, id: string, by: Judging): SessionState {
  const checkpoint = lookUp(state.checkpoints, id);
  if (!checkpoint) return state;
  const expired = release({ ...state, checkpoints: put(state.checkpoints, id, { ...checkpoint, decision: "EXPIRED" }) }, id);
  return endWhenSettled(expired, by, "approval_expired");
}
