/** Intents, outcomes and reconciliations. */
import { type Refusal, refuse } from "../rows.ts";
import { afterSettling, isProtected } from "./following.ts";
import { digestOf } from "./hashing.ts";
import type { Rules } from "./rule.ts";
import type { Case, Effect } from "./session.ts";

export const effectRules: Rules<"tool_requested" | "tool_result" | "reconciled"> = {
  tool_requested: {
    refuses: (c) => outOfPlace(c) ?? repeated(c) ?? unapproved(c),
    applies({ session, record, entry }) {
      const { key, tool, argsDigest, contract, fences, callWindowSeconds, leaf, approval } = record.data;
      session.effects.set(key, {
        key, tool, argsDigest, contract, fences, windowMs: callWindowSeconds * 1000, intent: record.eventId, leaf, ownerId: session.owner?.id ?? "",
        epoch: session.epoch, at: entry.time, seq: session.seq, outcome: null, settledBy: null,
      });
      if (contract !== "none") session.unsettled.add(key);
      const checkpoint = approval === undefined ? undefined : session.checkpoints.get(approval);
      if (checkpoint) checkpoint.usedBy = key;
    },
  },
  tool_result: {
    refuses({ session, record, entry }) {
      const { key, outcome } = record.data;
      const effect = session.effects.get(key);
      if (!effect) return refuse("not_owed", "E3", `an outcome for ${key}, which nobody asked for`);
      if (effect.outcome !== null) return refuse("duplicate", "E3", `a second outcome for ${key}`);
      if (effect.epoch === session.epoch) return null;
      if (effect.contract !== "idempotent") return refuse("not_owed", "E4", `the outcome of ${key} is unknown since epoch ${effect.epoch}, and was not asked for`);
      return outcome === "confirmed" || entry.time > windowEnd(effect, session.claimedAt) ? null : refuse("not_owed", "E10", `${key} failed while a call may be under way`);
    },
    applies(c) {
      settle(c, c.record.data);
    },
  },
  reconciled: {
    refuses({ session, record, entry }) {
      const { key, intent, outcome, epoch } = record.data;
      const effect = session.effects.get(key);
      if (!effect || !session.unsettled.has(key) || effect.intent !== intent) return refuse("not_owed", "E12", `${key} has no unsettled intent ${intent}`);
      const unknown = session.isUnknown || effect.epoch < session.epoch;
      if (record.epoch === undefined && !unknown) return refuse("not_owed", "E12", `${key} is in its owner's hands`);
      if (outcome === "happened") return null;
      if (epoch !== session.epoch) return refuse("stale_epoch", "E10", `a look at epoch ${epoch} under ${session.epoch}`);
      return mayConclude(effect, { session, time: entry.time }) ? null : refuse("not_owed", "E10", `${key} may still be called`);
    },
    applies(c) {
      settle(c, { key: c.record.data.key, outcome: c.record.data.outcome === "happened" ? "confirmed" : "failed" });
    },
  },
};

/** When the last call of an intent that may have been started must be over, by the log's time. */
function windowEnd(effect: Effect, claimedAt: number | null): number {
  return Math.max(effect.at, claimedAt ?? effect.at) + effect.windowMs;
}
function mayConclude(effect: Effect, { session, time }: { readonly session: Case["session"]; readonly time: number }): boolean {
  // The owner of this very epoch may be calling an idempotent effect again, and its target lets that through.
  const fencedOff = effect.fences && effect.contract !== "idempotent" && effect.epoch < session.epoch;
  return fencedOff || time > windowEnd(effect, session.claimedAt);
}

function outOfPlace({ session, record }: Case<"tool_requested">): Refusal | null {
  const { dispatch, leaf, iteration } = record.data;
  const { open } = session;
  if (dispatch !== open?.eventId) return refuse("not_owed", "F5", `the intent names ${dispatch}, which is not open`);
  if (leaf !== open.leaf || iteration !== open.iteration) return refuse("malformed", "F5", `the intent is of ${leaf}/${iteration}, open is ${open.leaf}/${open.iteration}`);
  if (session.cancelled || session.endsAs) return refuse("suspended", session.endsAs ? "P4" : "X1", "an intent of a session that is to end");
  const [left] = session.leftBehind;
  if (left) return refuse("suspended", "E4", `${left.key} is unsettled since epoch ${left.epoch}`);
  return session.purse.isSpent ? refuse("suspended", "B4", `${record.data.key} is asked for although the budget is used up`) : null;
}

function repeated({ session, record }: Case<"tool_requested">): Refusal | null {
  const { key, tool, argsDigest } = record.data;
  const known = session.effects.get(key);
  if (!known) return null;
  if (known.argsDigest !== argsDigest || known.tool !== tool) return refuse("key_conflict", "E1", `${key} stands for another call`);
  if (known.contract === "none" || known.outcome === "failed") return null;
  return refuse("duplicate", "E2", `${key} is asked for already`);
}

/** An intent's digest is that of its arguments. A call that is protected, or that says that it was approved, needs exactly that approval. */
function unapproved(c: Case<"tool_requested">): Refusal | null {
  const { tool, args, argsDigest, approval, key } = c.record.data;
  if (digestOf(args) !== argsDigest) return refuse("malformed", "E5", "the digest is not that of the arguments");
  if (approval === undefined && !isProtected(c, tool)) return null;
  const checkpoint = c.session.checkpoints.get(approval ?? "");
  if (!checkpoint || checkpoint.request === null || !["APPROVE", "MODIFY"].includes(checkpoint.decision ?? "")) {
    const spent = checkpoint?.decision === "REJECT" || checkpoint?.decision === "EXPIRED";
    return refuse("forbidden", spent ? "P4" : "P1", `${key} needs an approval that it has not`);
  }
  const allowed = checkpoint.approved as { readonly tool?: unknown; readonly argsDigest?: unknown } | null;
  if (allowed?.tool !== tool || allowed.argsDigest !== argsDigest) return refuse("forbidden", "P1", `${key} is another action than the approved one`);
  return checkpoint.usedBy === null || checkpoint.usedBy === key ? null : refuse("forbidden", "P2", `the approval has served ${checkpoint.usedBy}`);
}

function settle(c: Case<"tool_result"> | Case<"reconciled">, { key, outcome }: { readonly key: string; readonly outcome: "confirmed" | "failed" }): void {
  const { session, record, entry } = c;
  const effect = session.effects.get(key);
  if (!effect) return;
  effect.outcome = outcome;
  effect.settledBy = { type: record.type, at: entry.time, epoch: session.epoch };
  session.unsettled.delete(key);
  if (outcome === "confirmed") session.done.set(effect.leaf, [...(session.done.get(effect.leaf) ?? []), effect]);
  afterSettling(c);
}
