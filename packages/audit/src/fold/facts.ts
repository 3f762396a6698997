/** Facts of a cycle, and an owner's request for a decision. */
import { type Refusal, refuse } from "../rows.ts";
import { matchEarly, withArgsDigest } from "./decisions.ts";
import { askAtCost } from "./following.ts";
import { digestOf } from "./hashing.ts";
import { type Rules, remark } from "./rule.ts";
import type { Case } from "./session.ts";

const isGap = (outcome: string): boolean => outcome === "partial" || outcome === "stale" || outcome === "failed";

export const factRules: Rules<"grounding" | "model" | "reserved" | "compaction" | "error"> = {
  grounding: {
    refuses: () => null,
    applies({ session, record }) {
      const { scope, outcome, pagination } = record.data;
      if (isGap(outcome) || pagination?.complete === false) session.gaps.add(scope);
      else session.gaps.delete(scope);
    },
  },
  model: {
    refuses({ session, record }) {
      const [left] = session.leftBehind;
      if (left) return refuse("suspended", "E4", `${left.key} is unsettled since epoch ${left.epoch}`);
      const { reservation } = record.data.usage;
      const inFlight = reservation !== undefined && session.purse.hasReserved(reservation);
      return session.purse.isSpent && !inFlight ? refuse("suspended", "B4", "a model is called although the budget is used up") : null;
    },
    applies(c) {
      const cost = c.session.purse.costUsd;
      c.session.purse.spend(c.record.data.usage);
      askAtCost(c, cost);
    },
  },
  reserved: {
    refuses({ session, record }) {
      if (session.purse.hasReserved(record.data.id)) return refuse("duplicate", "B1", `${record.data.id} is set aside already`);
      if (session.purse.isSpent) return refuse("suspended", "B4", `${record.data.id} is set aside although the budget is used up`);
      return session.purse.fits(record.data.amounts) ? null : refuse("suspended", "B1", `${record.data.id} is more than what is left`);
    },
    applies({ session, record }) {
      session.purse.reserve(record.data.id, record.data.amounts);
    },
  },
  compaction: remark,
  error: remark,
};

/** An owner's request, or the one that the policy calls for. */
export function refusesRequest({ session, record }: Case<"approval_requested">): Refusal | null {
  const { checkpoint, action, digest } = record.data;
  if (session.checkpoints.get(checkpoint)?.request) return refuse("duplicate", "P2", `${checkpoint} is requested already`);
  return digestOf(action) === digest ? null : refuse("malformed", "P1", "the digest is not that of the action");
}
export function appliesRequest(c: Case<"approval_requested">, calledBy: string | null = null): void {
  const { session, record, entry } = c;
  const { checkpoint: id, trigger, action, digest, expires } = record.data;
  const expiresAt = expires === null ? null : entry.time + expires * 1000;
  const early = session.checkpoints.get(id);
  if (expiresAt !== null) session.timers.push({ armedBy: record.eventId, kind: "approval", dueAt: expiresAt, checkpoint: id });
  session.checkpoints.set(id, {
    id, trigger, digest, action: withArgsDigest(action), requester: record.actor.id, calledBy, request: record.eventId, since: entry.time, expiresAt,
    answeredBy: null, decision: null, approved: null, usedBy: null, decidedAt: null,
  });
  if (!session.pending.includes(id)) session.pending.push(id);
  if (early) matchEarly(c, early);
}
