/**
 * The audit's own fold: one record of one session after another, in log order, judged by the rules alone.
 *
 * J1. `judge` changes nothing; `accept` is the only way in which a record changes a session.
 * J2. A refusal names the reason that readers show and the row of the audit that would be broken if the record counted.
 */
import type { Authorship } from "@loopledger/shared/core/events/define";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { type EventType, catalogue } from "@loopledger/shared/core/events/index";
import { type Parsed, parseRecord } from "@loopledger/shared/core/events/parse";
import { type Refusal, refuse } from "../rows.ts";
import { cycleRules } from "./cycles.ts";
import { approvalDecided } from "./decisions.ts";
import { childClosed, derivedRules } from "./derived.ts";
import { effectRules } from "./effects.ts";
import { appliesRequest, factRules, refusesRequest } from "./facts.ts";
import { goOn, oweReview } from "./following.ts";
import { goalDigest, sha256 } from "./hashing.ts";
import { actRules, rulesKnown } from "./people.ts";
import { type Rule, remark } from "./rule.ts";
import { type Case, type Entry, Session } from "./session.ts";
import { claimed, fenced } from "./tenure.ts";
import { Tree, rootId } from "./tree.ts";

export type Judgement =
  | { readonly kind: "accepted"; readonly record: LedgerRecord }
  | { readonly kind: "void"; readonly refusal: Refusal }
  | { readonly kind: "held"; readonly detail: string };
/** An entry and what its text says. */
export interface Read {
  readonly entry: Entry;
  readonly parsed: Parsed;
}
export function read(entry: Entry): Read {
  return { entry, parsed: parseRecord(entry.text) };
}

const goalSubmitted: Rule<"goal_submitted"> = {
  refuses({ session, record }) {
    const { goal, digest } = record.data;
    if (session.submission) return refuse(session.submission.digest === digest ? "duplicate" : "key_conflict", "X1", "the session has its goal");
    if (goalDigest(goal) !== digest) return refuse("malformed", "C1", "the digest is not that of the goal");
    return new Tree(goal).isSound ? null : refuse("malformed", "D4", "the goal's tree cannot be finished");
  },
  applies(c) {
    const { session, record, entry } = c;
    const { goal, digest, bounds, rules, parent } = record.data;
    session.submission = { goal, digest, bounds, submitter: record.actor.id, parent: parent ?? null, at: entry.time };
    session.rules = rules;
    session.tree = new Tree(goal);
    session.purse.open(bounds);
    session.awaitsFirstCheck = bounds.failureFirst !== false;
    if (session.awaitsFirstCheck) oweReview(c, rootId);
    else goOn(c);
  },
};
const requestByOwner: Rule<"approval_requested"> = { refuses: refusesRequest, applies: (c) => appliesRequest(c) };

const byOwner: { readonly [T in EventType]?: Rule<T> } = {
  ...cycleRules, ...effectRules, ...factRules, approval_requested: requestByOwner,
} as never;
const byAnybody: { readonly [T in EventType]?: Rule<T> } = { ...derivedRules } as never;
const byOthers: { readonly [T in EventType]?: Rule<T> } = {
  ...actRules, approval_decided: approvalDecided, child_closed: childClosed, error: remark,
  reconciled: {
    refuses: (c: Case<"reconciled">) => (c.record.actor.kind === "human" ? effectRules.reconciled.refuses(c) : refuse("forbidden", "E7", `${c.record.actor.kind} is nobody who has looked`)),
    applies: effectRules.reconciled.applies,
  },
} as never;

/** In which way a record was written; null where its envelope fits no way that its type allows. */
function authorshipOf(record: LedgerRecord): Authorship | null {
  const allowed: readonly Authorship[] = catalogue[record.type].authorship;
  if (allowed.includes("claim")) return "claim";
  if (record.epoch !== undefined) return allowed.includes("owner") ? "owner" : null;
  return allowed.find((way) => way !== "owner") ?? null;
}
function ruleOf(record: LedgerRecord, way: Authorship): Rule<EventType> | undefined {
  const tables = {
    claim: { claimed }, owner: byOwner, derived: byAnybody, act: byOthers, submission: { goal_submitted: goalSubmitted }, store: {},
  } satisfies Record<Authorship, object>;
  return (tables[way] as { readonly [T in EventType]?: Rule<EventType> })[record.type];
}

/** A stray's verdict rests on nothing that the session has become: at home nobody knows of it. */
export function judge(session: Session, { entry, parsed }: Read): Judgement {
  if (isStray(session, entry)) {
    return no(entry.verified === "no" ? refuse("forbidden", "H3", "the signature does not hold") : refuse("malformed", "S2", `partition ${entry.partition}, home is ${session.home}`));
  }
  if (session.hold) return { kind: "held", detail: session.hold.detail };
  if (entry.verified === "no") return no(refuse("forbidden", "H3", "the signature does not hold"));
  if (parsed.kind === "malformed") return no(refuse("malformed", "S5", parsed.detail));
  if (parsed.kind === "unknown") return { kind: "held", detail: parsed.detail };
  const { record } = parsed;
  if ((record.type === "goal_submitted" || record.type === "rules_raised") && record.data.rules > rulesKnown) {
    return { kind: "held", detail: `acceptance rules ${record.data.rules}` };
  }
  const refusal = misplaced(session, record, entry) ?? refusalOf({ session, record, entry } as Case) ?? repeats(session, record);
  return refusal ? no(refusal) : { kind: "accepted", record };
}
function no(refusal: Refusal): Judgement {
  return { kind: "void", refusal };
}

/** It lies elsewhere than its session does. */
export function isStray({ home }: Session, { partition }: Entry): boolean {
  return home !== null && home !== partition;
}
/** Whether a session could begin with this entry. */
export function begins(entry: Entry): boolean {
  const { key } = entry;
  return key !== null && judge(new Session(key), read(entry)).kind === "accepted";
}
/** What may count by every other rule counts once. */
function repeats(session: Session, { eventId }: LedgerRecord): Refusal | null {
  return session.accepted.has(eventId) ? refuse("duplicate", "A3", `${eventId} is accepted already`) : null;
}

function misplaced(session: Session, record: LedgerRecord, entry: Entry): Refusal | null {
  if (record.sessionId !== entry.key || record.sessionId !== session.id) return refuse("malformed", "S1", `key ${entry.key} on a record of ${record.sessionId}`);
  if (session.ledgerId !== null && session.ledgerId !== record.ledgerId) return refuse("malformed", "S2", `a record of ledger ${record.ledgerId} in ledger ${session.ledgerId}`);
  const writers: readonly string[] = catalogue[record.type].writers;
  return writers.includes(record.actor.kind) ? null : refuse("forbidden", "H3", `${record.actor.kind} writes ${record.type}`);
}

function refusalOf(c: Case): Refusal | null {
  const { session, record } = c;
  const way = authorshipOf(record);
  const rule = way === null ? undefined : ruleOf(record, way);
  if (way === null || way === "store" || !rule) return refuse("malformed", "H3", `${record.type} is not written this way`);
  if (way !== "submission" && !session.submission) return refuse("not_owed", "D1", "there is no goal before it");
  if (way === "owner") return fenced(c) ?? rule.refuses(c);
  if (way !== "act") return rule.refuses(c);
  if (session.acts.has(record.eventId)) return refuse("duplicate", "A3", "the act is accepted already");
  if (session.end && record.type !== "resumed" && !session.isUnknown) return refuse("after_end", "X1", `${record.type} after ${session.end.disposition}`);
  return rule.refuses(c);
}

/** Takes a record as accepted, whoever says so. */
export function accept(c: Case): void {
  const { session, record, entry } = c;
  const way = authorshipOf(record);
  const rule = way === null ? undefined : ruleOf(record, way);
  if (!rule) return;
  session.seq += 1;
  if (way === "owner") session.purse.tick(entry.time);
  rule.applies(c);
  session.home ??= entry.partition;
  session.ledgerId ??= record.ledgerId;
  session.at = entry.time;
  session.offset = entry.offset;
  session.digest = sha256(session.digest + (entry.text ?? ""));
  session.accepted.set(record.eventId, record.type);
  if (way === "act") session.acts.add(record.eventId);
  if (way !== "owner" || record.n === undefined) return;
  session.n = record.n;
  if (!session.open || !session.owner) session.purse.rest();
}
