/** A person's answer to a checkpoint: bound to what was shown, the first one wins, and an early one waits for its request. */
import type { Json } from "@loopledger/shared/core/json";
import { type Refusal, refuse } from "../rows.ts";
import { endWhenSettled } from "./following.ts";
import { digestOf, same } from "./hashing.ts";
import type { Rule } from "./rule.ts";
import type { Case, Checkpoint, Session } from "./session.ts";
import { rootId } from "./tree.ts";

export const approvalDecided: Rule<"approval_decided"> = {
  refuses(c) {
    const { session, record } = c;
    const { checkpoint: id, decision, digest, action } = record.data;
    const known = session.checkpoints.get(id);
    if (session.submission?.bounds.fourEyes && record.actor.id === session.submission.submitter) return refuse("forbidden", "P3", `${record.actor.id} submitted the goal`);
    if (decision === "MODIFY" && action === undefined) return refuse("malformed", "P1", "MODIFY without an action");
    if (known?.decision === "EXPIRED") return refuse("not_owed", "P4", `${id} has expired`);
    if (known && known.decision !== null) return again(c, known);
    if (known?.request == null) return null;
    if (digest !== known.digest) return refuse("key_conflict", "P1", `the answer is to another action than ${id} shows`);
    return hasAsked(session, known, record.actor.id) ? refuse("forbidden", "P3", `${record.actor.id} asked for it`) : null;
  },
  applies(c) {
    const { session, record, entry } = c;
    const { checkpoint: id, decision, digest, action } = record.data;
    const known = session.checkpoints.get(id);
    if (known?.request) return answer(session, known, { decision, action: action ?? null, c });
    if (decision === "PAUSE") return;
    session.checkpoints.set(id, {
      id, trigger: "external", digest, action: null, requester: "", calledBy: null, request: null, since: entry.time, expiresAt: null, answeredBy: record.actor.id,
      decision, approved: action ?? null, usedBy: null, decidedAt: null,
    });
  },
};

/** A second answer: the same one is a repeat, another one contradicts. */
function again({ record }: Case<"approval_decided">, known: Checkpoint): Refusal {
  const { decision, digest, action } = record.data;
  const changed = known.request === null ? (action ?? null) : withArgsDigest(action ?? null);
  const repeats = known.decision === decision && known.digest === digest && (decision !== "MODIFY" || same(known.approved, changed));
  return refuse(repeats ? "duplicate" : "key_conflict", "P2", `${known.id} is decided: ${known.decision}`);
}

/** With four eyes, who called for a decision from outside is one who has asked. */
function hasAsked({ submission }: Session, { requester, calledBy }: Checkpoint, who: string | null): boolean {
  return who === requester || (submission?.bounds.fourEyes === true && who !== null && who === calledBy);
}

/** An answer that came before its request counts now, if it was to this action and by somebody else than who asks. */
export function matchEarly(c: Case, early: Checkpoint): void {
  const now = c.session.checkpoints.get(early.id);
  if (early.request !== null || !now || early.decision === null || early.digest !== now.digest || hasAsked(c.session, now, early.answeredBy)) return;
  answer(c.session, now, { decision: early.decision, action: early.approved, c });
}

function answer(session: Session, checkpoint: Checkpoint, { decision, action, c }: { readonly decision: string; readonly action: Json; readonly c: Case }): void {
  if (decision === "PAUSE") return;
  checkpoint.decision = decision;
  checkpoint.decidedAt = c.entry.time;
  checkpoint.approved = decision === "APPROVE" ? checkpoint.action : decision === "MODIFY" ? withArgsDigest(action) : null;
  if (decision === "MODIFY") checkpoint.usedBy = doneAlready(session, checkpoint.approved) ?? checkpoint.usedBy;
  release(session, checkpoint.id);
  if (decision === "REJECT") endWhenSettled(c, "approval_rejected");
  else if (decision === "RETRY") judgeAgain(session);
  else if (decision === "MODIFY") retask(session, checkpoint.approved);
}

/** A person may point to a call that this leaf has made already: then that one is what the answer serves, and no other. */
function doneAlready({ open, done }: Session, action: Json): string | undefined {
  const { tool, argsDigest } = (action ?? {}) as { readonly tool?: Json; readonly argsDigest?: Json };
  return done.get(open?.leaf ?? "")?.find((call) => call.tool === tool && call.argsDigest === argsDigest)?.key;
}

export function expire(c: Case, id: string): void {
  const checkpoint = c.session.checkpoints.get(id);
  if (!checkpoint) return;
  checkpoint.decision = "EXPIRED";
  checkpoint.decidedAt = c.entry.time;
  release(c.session, id);
  endWhenSettled(c, "approval_expired");
}

/** It no longer holds the session back, and its expiry is disarmed. */
function release(session: Session, id: string): void {
  session.pending = session.pending.filter((one) => one !== id);
  session.timers = session.timers.filter((timer) => timer.checkpoint !== id);
}

/** RETRY of a completion: the goal's check once more, in place of the receipt. */
function judgeAgain(session: Session): void {
  const { owed, tree, iteration } = session;
  if (owed?.what !== "receipt") return;
  tree.mark(rootId, "unverified");
  session.owed = { ...owed, what: "dispatched", content: { cycle: "review", leaf: rootId, iteration, task: tree.at(rootId).task } };
}

/** A changed task takes the place of the one that is owed, or of the receipt that was. */
function retask(session: Session, action: Json): void {
  const { owed, tree, iteration } = session;
  const task = action !== null && typeof action === "object" && !Array.isArray(action) ? (action as Readonly<Record<string, Json>>)["task"] : undefined;
  if (typeof task !== "string" || !owed) return;
  if (owed.what === "receipt") {
    tree.mark(rootId, "needs-rework");
    tree.at(rootId).task = task;
    session.owed = { ...owed, what: "dispatched", content: { cycle: "build", leaf: rootId, iteration: iteration + 1, task } };
  } else if (owed.what === "dispatched") {
    session.owed = { ...owed, content: { ...(owed.content as Readonly<Record<string, Json>>), task } };
  }
}

/** A call of a tool is compared by the digest of its arguments. */
export function withArgsDigest(action: Json): Json {
  if (action === null || typeof action !== "object" || Array.isArray(action)) return action;
  const members = action as Readonly<Record<string, Json>>;
  return members["tool"] === undefined ? action : { ...members, argsDigest: digestOf(members["args"] ?? null) };
}
