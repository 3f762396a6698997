/**
 * The fold: `evolve(state, entry)` gives the next state and the verdict on the record.
 *
 * It is pure: no clock, no lease, no configuration, no I/O. Every reader runs it over the same log and gets the same answer,
 * on any chunking, live or replayed.
 *
 * E1. A record is accepted, or void with a reason of the closed list, or holds its session. Void records use up no n, no seq, no id.
 * E2. Unknown types, versions and fields hold the session; they never void, so that readers of two releases agree.
 * E3. The running digest covers the text of every accepted record, in order.
 * E4. A record away from its session's home partition, under another key or of another ledger is void, whatever its type.
 * E5. An eventId is accepted once.
 */
import type { LogTime, Offset, Seq, Sha256 } from "../brand.ts";
import { countRunning, stopRunning } from "../budget/budget.ts";
import type { ActorKind, Authorship } from "../events/define.ts";
import type { LedgerRecord } from "../events/envelope.ts";
import { catalogue } from "../events/index.ts";
import type { Parsed } from "../events/parse.ts";
import { fence, serves } from "../fencing/fence.ts";
import { type Guards, guardsOn } from "../fencing/guards.ts";
import { derivedId } from "../fencing/ids.ts";
import { meets } from "./owed.ts";
import { endsUnknown } from "./endings.ts";
import { lookUp, put } from "./persistent-map.ts";
import { actRules } from "./rules/acts.ts";
import { claim } from "./rules/claiming.ts";
import { cycleRules, goesOnDuringRetry, waitsForRetry } from "./rules/cycles.ts";
import { decided } from "./rules/decisions.ts";
import { dispatchingRules } from "./rules/dispatching.ts";
import { effectRules } from "./rules/effects.ts";
import { factRules, requestApproval } from "./rules/facts.ts";
import type { Judged, Judging, Submitted } from "./rules/rule.ts";
import { submit } from "./rules/submission.ts";
import { check } from "./rules/verdicts.ts";
import { type SessionState, type VoidReason, rulesKnown } from "./state.ts";

/** One entry of a session, as a reader hands it to the fold. */
export interface FoldEntry {
  readonly parsed: Parsed;
  readonly text: string;
  readonly key: string;
  readonly time: LogTime;
  readonly partition: number;
  readonly offset: Offset;
  /** Whether the signature holds; `off` where no keys are configured. */
  readonly verified: "yes" | "no" | "off";
  /** The running digest that this text was found to lead to from `before`; made anew from any other. */
  readonly running?: RunningDigest | undefined;
}
export interface RunningDigest {
  readonly before: string;
  readonly after: string;
}
export type Verdict =
  | { readonly kind: "accepted"; readonly seq: Seq }
  | { readonly kind: "void"; readonly reason: VoidReason }
  | { readonly kind: "held"; readonly detail: string };
export interface Step {
  readonly state: SessionState;
  readonly verdict: Verdict;
}
export type Evolve = (state: SessionState, entry: FoldEntry, sha256: Sha256) => Step;

/** Programs use `evolve`; only test code makes a fold with a guard taken away. */
export function makeEvolve(guards: Guards): Evolve {
  return (state, entry, sha256) => {
    if (state.hold) return { state, verdict: { kind: "held", detail: state.hold.detail } };
    if (entry.verified === "no") return refuse(state, "forbidden");
    if (entry.parsed.kind === "malformed") return refuse(state, "malformed");
    if (state.position !== null && state.position.partition !== entry.partition) return refuse(state, "malformed");
    if (entry.parsed.kind === "unknown") return hold(state, entry, entry.parsed.detail);
    const { record } = entry.parsed;
    if ((record.type === "goal_submitted" || record.type === "rules_raised") && record.data.rules > rulesKnown) {
      return hold(state, entry, `acceptance rules ${record.data.rules}`);
    }
    const misplaced = record.sessionId !== entry.key || record.sessionId !== state.sessionId;
    if (misplaced || (state.ledgerId !== null && state.ledgerId !== record.ledgerId)) return refuse(state, "malformed");
    const definition = catalogue[record.type];
    if (!(definition.writers as readonly ActorKind[]).includes(record.actor.kind)) return refuse(state, "forbidden");
    const judged = judge(state, record, { eventId: record.eventId, time: entry.time, sha256, guards });
    if (typeof judged === "string") return refuse(state, judged);
    if (guards.dedupe && isKnown(state, record)) return refuse(state, "duplicate");
    const accepted = accept(state, judged, { record, entry, sha256 });
    return { state: accepted, verdict: { kind: "accepted", seq: accepted.seq } };
  };
}
export const evolve: Evolve = makeEvolve(guardsOn);

/** An accepted id never counts again, whoever writes it and under whatever number. */
function isKnown(state: SessionState, { eventId }: LedgerRecord): boolean {
  return lookUp(state.ids, endOf(eventId)) !== undefined || lookUp(state.acts, eventId) !== undefined;
}
/** Enough of an id to tell it from the others of its session, so that the state stays small. */
function endOf(eventId: string): string {
  return eventId.slice(-16);
}

function refuse(state: SessionState, reason: VoidReason): Step {
  return { state: { ...state, void: { ...state.void, [reason]: (state.void[reason] ?? 0) + 1 } }, verdict: { kind: "void", reason } };
}
function hold(state: SessionState, entry: FoldEntry, detail: string): Step {
  return { state: { ...state, hold: { detail, since: entry.time } }, verdict: { kind: "held", detail } };
}

/** Who writes this record: an owner where it carries an epoch, else what its type allows. */
function authorshipOf(record: LedgerRecord): Authorship | null {
  const allowed = catalogue[record.type].authorship as readonly Authorship[];
  if (allowed.includes("claim")) return "claim";
  if (record.epoch !== undefined) return allowed.includes("owner") ? "owner" : null;
  return allowed.find((one) => one !== "owner") ?? null;
}

function judge(state: SessionState, record: LedgerRecord, by: Judging): Judged {
  const authorship = authorshipOf(record);
  if (authorship === null || authorship === "store") return "malformed";
  if (authorship === "submission") return record.type === "goal_submitted" ? submit(state, record, by) : "malformed";
  return isSubmitted(state) ? judges[authorship](state, record, by) : "not_owed";
}
type Judge = (state: Submitted, record: LedgerRecord, by: Judging) => Judged;
const judges: { readonly [A in Exclude<Authorship, "store" | "submission">]: Judge } = {
  claim: (state, record, by) => (record.type === "claimed" ? claim(state, record, by) : "malformed"),
  owner: judgeOwner, derived: judgeDerived, act: judgeAct,
};

function isSubmitted(state: SessionState): state is Submitted {
  return state.submission !== null;
}
function judgeOwner(state: Submitted, record: LedgerRecord, by: Judging): Judged {
  if (state.end && by.guards.fence) {
    if ((record.epoch ?? 0) < state.epoch) return "stale_epoch";
    const settles = endsUnknown(state.end) && record.type === "reconciled" && lookUp(state.effects, record.data.key)?.contract === "lookup";
    if (!settles) return "after_end";
  }
  const refused = fence(state, record, by.guards) ?? serves(state, record);
  if (refused && (by.guards.fence || refused === "duplicate" || !state.open)) return refused;
  if (waitsForRetry(state) && !goesOnDuringRetry(record.type)) return "suspended";
  const spending = countRunning(state.spending, by.time, true);
  return ownerAct(spending === state.spending ? state : { ...state, spending }, record, by);
}

function ownerAct(state: Submitted, record: LedgerRecord, by: Judging): Judged {
  switch (record.type) {
    case "built": case "cycle_failed": case "handed_back": case "retry": case "step": case "status":
      return cycleRules[record.type](state, record as never, by);
    case "tool_requested": case "tool_result": case "reconciled": return effectRules[record.type](state, record as never, by);
    case "grounding": case "model": case "reserved": case "compaction": return factRules[record.type](state, record as never, by);
    case "check": return check(state, record, by);
    case "approval_requested": return requestApproval(state, record, by);
    case "error": return state;
    default: return "malformed";
  }
}

function judgeDerived(state: Submitted, record: LedgerRecord, by: Judging): Judged {
  switch (record.type) {
    case "dispatched": case "receipt": case "child_opened": case "child_refused": return dispatchingRules[record.type](state, record as never, by);
    case "status": {
      const refused = meets(state.statusOwed, record);
      return refused ?? { ...state, statusOwed: null };
    }
    case "approval_requested": {
      if (state.end) return "after_end";
      const refused = meets(state.requestOwed, record);
      return refused ?? requestApproval({ ...state, requestOwed: null }, record, { ...by, calledBy: state.requestOwed?.by });
    }
    case "timer_fired": {
      if (state.end && !endsUnknown(state.end)) return "after_end";
      const expected = derivedId({ sessionId: state.sessionId, cause: record.data.timer, what: "timer_fired" }, by.sha256);
      return record.eventId === expected ? actRules.timer_fired(state, record, by) : "malformed";
    }
    default: return "malformed";
  }
}

function judgeAct(state: Submitted, record: LedgerRecord, by: Judging): Judged {
  if (by.guards.dedupe && lookUp(state.acts, record.eventId)) return "duplicate";
  if (state.end && record.type !== "resumed" && !endsUnknown(state.end)) return "after_end";
  const next = act(state, record, by);
  return typeof next === "string" ? next : { ...next, acts: put(next.acts, record.eventId, true) };
}

function act(state: Submitted, record: LedgerRecord, by: Judging): Judged {
  switch (record.type) {
    case "cancel_requested": case "pause_requested": case "checkpoint_requested": case "rules_raised": case "resumed":
    case "guidance": case "budget_raised": case "tick": case "learning":
      return actRules[record.type](state, record as never, by);
    case "approval_decided": return decided(state, record, by);
    case "reconciled": return record.actor.kind === "human" ? effectRules.reconciled(state, record, by) : "forbidden";
    case "child_closed": return dispatchingRules.child_closed(state, record, by);
    case "error": return state;
    default: return "malformed";
  }
}

function runningDigest(before: string, { running, text }: FoldEntry, sha256: Sha256): string {
  return running?.before === before ? running.after : sha256(before + text);
}

interface Accepting { readonly record: LedgerRecord; readonly entry: FoldEntry; readonly sha256: Sha256 }

/** What every accepted record does, whatever its type. */
function accept(before: SessionState, judged: SessionState, { record, entry, sha256 }: Accepting): SessionState {
  const seq = (before.seq + 1) as Seq;
  const owned = record.n !== undefined && record.epoch !== undefined;
  const owner = owned && judged.owner ? { ...judged.owner, lastAt: entry.time } : judged.owner;
  return {
    ...judged, seq, owner, at: entry.time, digest: runningDigest(before.digest, entry, sha256),
    position: { partition: entry.partition, offset: entry.offset }, ledgerId: record.ledgerId,
    ids: judged.acts === before.acts ? put(before.ids, endOf(record.eventId), true) : before.ids,
    n: owned ? (record.n ?? judged.n) : judged.n,
    spending: owned && (!judged.open || !judged.owner) ? stopRunning(judged.spending) : judged.spending,
  };
}
