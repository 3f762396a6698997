/** What people and programs outside ask for. */
import type { Json } from "@loopledger/shared/core/json";
import { refuse } from "../rows.ts";
import { ask, endAs, goOn } from "./following.ts";
import { type Rules, remark } from "./rule.ts";
import type { Case, Session } from "./session.ts";
import { rootId } from "./tree.ts";

type ActType =
  | "cancel_requested" | "pause_requested" | "checkpoint_requested" | "rules_raised" | "resumed" | "guidance" | "budget_raised" | "tick" | "learning";
/** The newest acceptance rules that the audit judges by. */
export const rulesKnown = 1;

export const actRules: Rules<ActType> = {
  cancel_requested: {
    refuses: ({ session }) => (session.cancelled ? refuse("duplicate", "X1", "it is cancelled already") : null),
    applies(c) {
      c.session.cancelled = true;
      if (c.session.unsettled.size === 0) endAs(c, { disposition: "cancelled", reason: "cancelled" });
    },
  },
  pause_requested: {
    refuses: ({ session, record }) =>
      (session.pause && (session.pause.now || !record.data.now) ? refuse("duplicate", "T2", "it is paused already") : null),
    applies({ session, record, entry }) {
      session.pause = { now: record.data.now, since: entry.time };
    },
  },
  checkpoint_requested: {
    refuses({ session }) {
      if (session.end) return refuse("after_end", "X1", "a checkpoint after the end");
      return session.request || session.pending.length > 0 ? refuse("not_owed", "P2", "a decision is waited for already") : null;
    },
    applies(c) {
      ask(c, "external", { action: { continue: true, reason: c.record.data.reason }, expires: null, by: c.record.actor.id });
    },
  },
  rules_raised: {
    refuses: ({ session, record }) => (record.data.rules <= session.rules ? refuse("not_owed", "S6", `rules ${record.data.rules} after ${session.rules}`) : null),
    applies({ session, record }) {
      session.rules = record.data.rules;
    },
  },
  resumed: {
    refuses({ session }) {
      const { end } = session;
      if (end && !session.isUnknown) {
        const opens = end.disposition === "handed_off" && end.reason !== "approval_rejected";
        return opens ? null : refuse("after_end", "X1", `nothing re-opens ${end.disposition} (${end.reason ?? "no reason"})`);
      }
      const resumable = session.suspension !== null && session.suspension.reason !== "budget_exhausted";
      return session.pause || resumable ? null : refuse("not_owed", "T2", "there is nothing to resume");
    },
    applies(c) {
      const { session, record } = c;
      if (session.end && !session.isUnknown) return reopen(c);
      if (record.data.acceptCheck && session.suspension?.reason === "check_changed") acceptCheck(session, session.suspension.detail);
      session.pause = null;
      if (session.suspension?.reason !== "budget_exhausted") session.suspension = null;
    },
  },
  guidance: remark,
  budget_raised: {
    refuses: () => null,
    applies({ session, record }) {
      session.purse.raise(record.data);
      if (session.suspension?.reason === "budget_exhausted") session.suspension = null;
    },
  },
  tick: remark,
  learning: {
    refuses: ({ session, record }) =>
      (session.verdict?.eventId === record.data.check ? null : refuse("not_owed", "C2", `${record.data.check} is not the last verdict`)),
    applies: remark.applies,
  },
};

/** A fresh window of failures; what the tree calls for is owed by the resumption, once no child is open. */
function reopen(c: Case): void {
  const { session } = c;
  session.end = null;
  session.report = null;
  session.owner = null;
  session.checkTries = 0;
  session.failures = { build: [], check: [] };
  session.remaining = null;
  if ([...session.children.values()].some((child) => child.open)) return;
  session.tree.close();
  if (session.tree.next() === null) session.tree.mark(rootId, "unverified");
  goOn(c);
}

function acceptCheck(session: Session, detail: Json): void {
  const { check, found } = (detail ?? {}) as { readonly check?: Json; readonly found?: Json };
  if (typeof check === "string" && typeof found === "string") session.pins.set(check, found);
}
