/**
 * A person's answer to a checkpoint.
 *
 * P1. It is bound to the digest of what was shown; the requester may not approve, with four eyes the submitter neither.
 * P2. The first decision in log order wins; an equal repeat is a duplicate, a contradicting one a conflict. PAUSE is no decision.
 * P3. An answer that comes before its request is kept and matched.
 */
import type { RecordOf } from "../../events/envelope.ts";
import type { Json, JsonObject } from "../../json.ts";
import { release, withArgsDigest } from "../checkpoints.ts";
import { endWhenSettled } from "../endings.ts";
import { type DispatchContent, owe, owedDispatch } from "../owed.ts";
import { lookUp, put } from "../persistent-map.ts";
import type { Checkpoint, SessionState } from "../state.ts";
import type { Judged, Judging, Submitted } from "./rule.ts";

type Decided = RecordOf<"approval_decided">;

export function decided(state: Submitted, record: Decided, by: Judging): Judged {
  const { checkpoint: id, decision, digest } = record.data;
  const known = lookUp(state.checkpoints, id);
  if (state.submission.bounds.fourEyes && record.actor.id === state.submission.submitter.id) return "forbidden";
  if (!known || !known.request) return known?.decision ? "duplicate" : early(state, record, by);
  if (known.decision === "EXPIRED") return "not_owed";
  if (known.decision !== null) return known.decision === decision && digest === known.digest ? "duplicate" : "key_conflict";
  if (digest !== known.digest) return "key_conflict";
  if (known.requestedBy === record.actor.id) return "forbidden";
  return apply(state, known, { decision, action: record.data.action ?? null, by });
}

/** Kept under its checkpoint's id until the request comes. */
function early(state: SessionState, record: Decided, by: Judging): SessionState {
  const { checkpoint: id, decision, digest, action } = record.data;
  const kept: Checkpoint = {
    id, trigger: "external", action: null, digest, requestedBy: "", request: null, seq: state.seq, since: by.time, expiresAt: null,
    decision, approvedAction: action ?? null, servedKey: null,
  };
  return { ...state, checkpoints: put(state.checkpoints, id, kept) };
}

/** Matches a kept answer with the request that has just been accepted. */
export function decideEarly(before: SessionState, requested: SessionState, at: { checkpoint: string; by: Judging }): SessionState {
  const kept = lookUp(before.checkpoints, at.checkpoint);
  const now = lookUp(requested.checkpoints, at.checkpoint);
  if (!kept?.decision || kept.decision === "EXPIRED" || !now || kept.digest !== now.digest) return requested;
  return apply(requested, now, { decision: kept.decision, action: kept.approvedAction, by: at.by });
}

interface Answer { readonly decision: Decided["data"]["decision"]; readonly action: Json; readonly by: Judging }

function apply(state: SessionState, checkpoint: Checkpoint, answer: Answer): SessionState {
  if (answer.decision === "PAUSE") return state;
  const approvedAction = answer.decision === "APPROVE" ? checkpoint.action : answer.decision === "MODIFY" ? withArgsDigest(answer.action, answer.by) : null;
  const settled = release({ ...state, checkpoints: put(state.checkpoints, checkpoint.id, { ...checkpoint, decision: answer.decision, approvedAction }) }, checkpoint.id);
  if (answer.decision === "REJECT") return endWhenSettled(settled, answer.by, "approval_rejected");
  return answer.decision === "MODIFY" ? retask(settled, approvedAction, answer.by) : settled;
}

/** A changed task takes the place of the one that is owed. */
function retask(state: SessionState, action: Json, by: Judging): SessionState {
  const task = action !== null && typeof action === "object" && !Array.isArray(action) ? (action as JsonObject)["task"] : undefined;
  const owed = owedDispatch(state);
  if (typeof task !== "string" || !owed || !state.owed) return state;
  const content: DispatchContent = { ...owed, task };
  return { ...state, owed: owe(state, { cause: state.owed.cause, what: "dispatched", content: { ...content } }, by.sha256) };
}

export function expire(state: SessionState, id: string, by: Judging): SessionState {
  const checkpoint = lookUp(state.checkpoints, id);
  if (!checkpoint) return state;
  const expired = release({ ...state, checkpoints: put(state.checkpoints, id, { ...checkpoint, decision: "EXPIRED" }) }, id);
  return endWhenSettled(expired, by, "approval_expired");
}
