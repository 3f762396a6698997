/** The goal: accepted once, if its tree can be finished; an equal repeat is a duplicate, another goal under the same id a conflict. */
import { digestOf } from "../../json.ts";
import type { RecordOf } from "../../events/envelope.ts";
import { owesReview, proceed } from "../continuation.ts";
import { faultsOfPlan, freshLeaves, planOf } from "../plan.ts";
import { type SessionState, rootLeaf } from "../state.ts";
import type { Judged, Judging } from "./rule.ts";

/** Digest of a goal: of what is wanted, not of the id under which it is wanted. */
export function goalDigest(goal: { readonly id?: unknown }, by: Pick<Judging, "sha256">): ReturnType<typeof digestOf> {
  return digestOf({ ...goal, id: undefined }, by.sha256);
}

export function submit(state: SessionState, record: RecordOf<"goal_submitted">, by: Judging): Judged {
  const { goal, digest, bounds, rules, parent } = record.data;
  if (state.submission) return state.submission.digest === digest ? "duplicate" : "key_conflict";
  if (goalDigest(goal, by) !== digest || faultsOfPlan(goal).length > 0) return "malformed";
  const plan = planOf(goal);
  const submitted: SessionState = {
    ...state, rules, createdAt: by.time, leaves: freshLeaves(plan),
    submission: { goal, digest, bounds, submitter: record.actor, eventId: record.eventId, parent: parent ?? null, plan },
  };
  if (bounds.failureFirst === false || !by.guards.failureFirst) return proceed(submitted, by);
  return owesReview({ ...submitted, failureFirst: "owed" }, by, rootLeaf);
}
