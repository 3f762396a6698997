/** What anybody may write because it is owed: dispatches, receipts, children, reports, requests, timers. */
import type { RecordOf } from "@loopledger/shared/core/events/envelope";
import { type Refusal, type RowId, refuse } from "../rows.ts";
import { expire } from "./decisions.ts";
import { appliesRequest, refusesRequest } from "./facts.ts";
import { askAtCost, endAs, goOn, oweReview } from "./following.ts";
import { derivedId, same } from "./hashing.ts";
import type { Rule, Rules } from "./rule.ts";
import type { Case, Derived, Owed, Session } from "./session.ts";
import { rootId } from "./tree.ts";

type DerivedType = "dispatched" | "receipt" | "child_opened" | "child_refused" | "approval_requested" | "status" | "timer_fired";

export const derivedRules: Rules<DerivedType> = {
  dispatched: {
    refuses(c) {
      const { session, record } = c;
      if (session.end) return refuse("after_end", afterEndRow(session), `a dispatch after ${session.end.disposition}`);
      if (session.open?.eventId === record.eventId) return refuse("duplicate", "D2", "the dispatch is open already");
      if (session.open) return refuse("not_owed", besideRow(session, record.cause?.eventId ?? ""), "a dispatch beside an open one");
      return differs(c, session.owed) ?? heldBack(session, record.data.cycle);
    },
    applies({ session, record, entry }) {
      const { cycle, leaf, iteration, task } = record.data;
      const kept = session.owner?.serves.includes(cycle) ?? false;
      session.open = { eventId: record.eventId, cycle, leaf, iteration, task, runs: kept ? 1 : 0, fruitless: 0, nAtStart: session.n, retries: 0, lastError: null };
      session.owed = null;
      session.dispatchedFor.add(record.cause?.eventId ?? "");
      if (kept) session.purse.run(entry.time);
      if (cycle === "review") return;
      session.iteration = iteration;
      session.purse.iterations += 1;
      session.tree.at(leaf).task = task;
    },
  },
  receipt: {
    refuses(c) {
      const { session } = c;
      if (session.end) return refuse("after_end", "X1", `a receipt after ${session.end.disposition}`);
      return differs(c, session.owed) ?? heldBack(session, null);
    },
    applies(c) {
      const { session, record } = c;
      const before = session.digest;
      endAs(c, { disposition: "done", reason: null });
      session.receipt = { sessionId: session.id, ...record.data, finalCheckSeq: session.verdict?.seq ?? 0, ledgerDigest: before, seq: session.seq };
    },
  },
  child_opened: {
    refuses: refusesChild,
    applies({ session, record }) {
      session.owed = null;
      session.children.set(record.data.child, { id: record.data.child, open: true, disposition: null });
    },
  },
  child_refused: {
    refuses: refusesChild,
    applies(c) {
      c.session.owed = null;
      endAs(c, { disposition: "handed_off", reason: "no_progress", error: `child refused: ${c.record.data.bound}` });
    },
  },
  approval_requested: {
    refuses: (c) => (c.session.end ? refuse("after_end", "X1", "a request after the end") : (differs(c, c.session.request) ?? refusesRequest(c))),
    applies(c) {
      const calledBy = c.session.request?.by ?? null;
      c.session.request = null;
      appliesRequest(c, calledBy);
    },
  },
  status: {
    refuses: (c) => differs(c, c.session.report),
    applies({ session }) {
      session.report = null;
    },
  },
  timer_fired: {
    refuses({ session, record, entry }) {
      const { timer: armedBy, kind } = record.data;
      if (session.end && !session.isUnknown) return refuse("after_end", "X1", "a timer after the end");
      if (record.eventId !== derivedId(session.id, armedBy, "timer_fired")) return refuse("malformed", "D5", "the id is not the one that the timer gives");
      const timer = session.timers.find((one) => one.armedBy === armedBy);
      if (!timer || record.cause?.eventId !== armedBy || timer.kind !== kind) return refuse("not_armed", "D7", `no ${kind} timer ${armedBy} is armed`);
      return entry.time < timer.dueAt ? refuse("not_armed", "D7", `it is due at ${timer.dueAt}, not at ${entry.time}`) : null;
    },
    applies(c) {
      const { session, record, entry } = c;
      const timer = session.timers.find((one) => one.armedBy === record.data.timer);
      session.timers = session.timers.filter((one) => one !== timer);
      if (record.data.kind === "check") return goOn(c);
      if (record.data.kind === "approval") return expire(c, timer?.checkpoint ?? "");
      if (session.open) session.open.runs += 1;
      if (session.owner && !session.end) session.purse.run(entry.time);
    },
  },
};

export const childClosed: Rule<"child_closed"> = {
  refuses({ session, record }) {
    if (session.end) return refuse("after_end", "X1", "a child's end after the parent's");
    const { child, disposition, reason } = record.data;
    if (!session.children.get(child)?.open) return refuse("not_owed", "B3", `${child} is no open child`);
    const over = disposition !== "running" && disposition !== "waiting" && reason !== "incomplete_tool_turn";
    return over ? null : refuse("not_owed", "B3", `${child} has not ended`);
  },
  applies(c) {
    const { session, record } = c;
    const { child: id, disposition, spent } = record.data;
    const cost = session.purse.costUsd;
    const child = session.children.get(id);
    if (child) Object.assign(child, { open: false, disposition });
    session.purse.spend({ costUsd: spent.costUsd, tokensIn: spent.tokens });
    if (!session.open && !session.owed) {
      const leaf = session.verdict?.leaf ?? rootId;
      session.tree.mark(leaf, "unverified");
      oweReview(c, leaf);
    }
    askAtCost(c, cost);
  },
};

type Content = Exclude<DerivedType, "timer_fired">;

/** By cause, by id and by content it is exactly what is owed. */
function differs<T extends Content>({ session, record }: Case<T>, owed: Owed | null): Refusal | null {
  const cause = record.cause?.eventId ?? "";
  if (!owed || owed.what !== (record.type as Derived) || owed.cause !== cause) return refuse("not_owed", causeRow(session, record, cause), `${record.type} by ${cause || "nothing"} is not owed`);
  if (record.eventId !== derivedId(session.id, cause, record.type)) return refuse("malformed", "D5", "the id is not the one that the cause gives");
  if (same(owed.content, record.data)) return null;
  return refuse("not_owed", record.type === "dispatched" ? "D4" : record.type === "receipt" ? "C1" : "D5", `${record.type} says something else than what is owed`);
}

/** Which promise is broken by a derived record that nothing calls for. */
function causeRow(session: Session, record: RecordOf<Content>, cause: string): RowId {
  if (session.blockedPasses.has(cause)) return "C4";
  if (record.type === "receipt") return session.refused.has(cause) && !session.accepted.has(cause) ? "F4" : "C1";
  if (record.type === "status") return "X1";
  if (record.type === "child_opened" || record.type === "child_refused") return "B3";
  if (session.accepted.has(record.eventId) || session.dispatchedFor.has(cause)) return record.type === "dispatched" ? "D2" : "A3";
  if (!session.accepted.has(cause)) return session.refused.has(cause) ? "F4" : "D1";
  return contradicts(session, cause) ? "C3" : "D1";
}
function besideRow(session: Session, cause: string): RowId {
  if (session.refused.has(cause) && !session.accepted.has(cause)) return "F4";
  return session.dispatchedFor.has(cause) ? "D2" : "D6";
}
function contradicts({ verdict }: Session, cause: string): boolean {
  return verdict?.eventId === cause && (verdict.verdict === "PASS") !== (verdict.next_steps.length === 0);
}
function afterEndRow({ end }: Session): RowId {
  if (end?.reason === "contradictory_verdict") return "C3";
  return end?.reason === "no_progress" || end?.reason === "deterministic_error" ? "B2" : "X1";
}

function refusesChild(c: Case<"child_opened"> | Case<"child_refused">): Refusal | null {
  if (c.session.end) return refuse("after_end", "X1", "a child after the end");
  return differs(c as Case<Content>, c.session.owed) ?? heldBack(c.session, null);
}

/** While the session is suspended nothing new begins; a receipt and a child's opening need no budget. */
function heldBack(session: Session, cycle: "build" | "review" | null): Refusal | null {
  const no = (row: RowId, why: string): Refusal => refuse("suspended", row, why);
  if (session.cancelled || session.endsAs) return no("X1", "the session is to end");
  if (session.suspension) return no("T2", `the session waits (${session.suspension.reason})`);
  if (session.pause && session.owed?.what !== "receipt") return no("T2", "the session is paused");
  if (session.pending.length > 0) return no("P1", "a person has to decide first");
  const lacking = cycle === null ? null : session.purse.lacks(cycle, false);
  if (lacking) return no(lacking === "iterations" ? "B2" : "B4", `the budget of ${lacking} is used up`);
  return null;
}
export { heldBack };
