/**
 * An account of the log that is kept beside the fold and knows nothing of its state: what was accepted, by whom, in which order.
 * It judges every verdict of the fold by the promises alone.
 */
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Verdict } from "@loopledger/shared/core/session/evolve";

export interface Account {
  readonly epoch: number;
  readonly owner: string;
  readonly n: number;
  readonly open: { readonly id: string; readonly cycle: string } | null;
  /** What may be the cause of the next dispatch: accepted since the last one. */
  readonly causes: readonly string[];
  /** Intents without outcome, with the epoch of each. */
  readonly unsettled: readonly { readonly key: string; readonly epoch: number; readonly contract: string }[];
  readonly outcomes: Readonly<Record<string, "confirmed" | "failed">>;
  readonly isPaused: boolean;
  readonly isCancelled: boolean;
  readonly isRejected: boolean;
  /** Questions without an answer, each with the record that asked it. */
  readonly asked: readonly { readonly checkpoint: string; readonly request: string }[];
  readonly answered: Readonly<Record<string, { readonly decision: string; readonly request: string | null }>>;
  readonly isPutOff: boolean;
  readonly builds: number;
  readonly iterationsMax: number | null;
  /** The accepted PASS of the whole goal, with nothing done since. */
  readonly pass: { readonly check: string; readonly revision: string | null } | null;
  readonly worked: boolean;
  readonly end: string | null;
}
export const emptyAccount: Account = {
  epoch: 0, owner: "", n: 0, open: null, causes: [], unsettled: [], outcomes: {}, isPaused: false, isCancelled: false, isRejected: false,
  asked: [], answered: {}, isPutOff: false, builds: 0, iterationsMax: null, pass: null, worked: false, end: null,
};

/** What is given out with a breach: the promise, and what was seen. */
export type Breach = string;
export interface Seen {
  readonly record: LedgerRecord;
  readonly verdict: Verdict;
  /** The end that the fold names after the record, as `disposition(reason)`. */
  readonly end: string | null;
  readonly protectedTool: string | null;
}
interface Entry { readonly account: Account; readonly breach: Breach | null }

const unknownEnd = "failed(incomplete_tool_turn)";
const results: ReadonlySet<string> = new Set(["built", "check", "cycle_failed"]);
const causing: ReadonlySet<string> = new Set(["goal_submitted", "built", "check", "cycle_failed", "timer_fired", "resumed", "approval_decided", "child_closed"]);

/** The account after one entry. What was not accepted leaves it as it is. */
export function enter(account: Account, seen: Seen): Entry {
  if (seen.verdict.kind !== "accepted") return { account, breach: null };
  const { record } = seen;
  const breach = breachOfTenure(account, record) ?? breachOfOrder(account, record) ?? breachOfAction(account, seen) ?? breachOfEnd(account, seen);
  const next = withRecord(account, record);
  return { account: withEnd(next, seen.end, account), breach };
}

function breachOfTenure(account: Account, record: LedgerRecord): Breach | null {
  if (record.type === "claimed") {
    if (account.end !== null) return `a claim after ${account.end}`;
    if (record.epoch !== account.epoch + 1) return "a claim of another epoch than the next one was accepted";
    return record.data.dispatch === account.open?.id ? null : "a claim of a dispatch that is not open was accepted";
  }
  if (record.epoch === undefined) return null;
  if (record.epoch !== account.epoch || record.ownerId !== account.owner) return `stale write accepted: ${record.type} of epoch ${record.epoch} in epoch ${account.epoch}`;
  if (record.n !== account.n + 1) return `an owner's records are not dense: ${record.type} is number ${record.n} after ${account.n}`;
  return record.cause?.eventId === account.open?.id ? null : `record for another step: ${record.type}`;
}

function breachOfOrder(account: Account, record: LedgerRecord): Breach | null {
  const cause = record.cause?.eventId ?? "";
  if (account.isPutOff && (record.type === "built" || record.type === "check" || record.type === "tool_requested")) return `${record.type} before the retry is due`;
  if (results.has(record.type)) {
    if (account.open === null) return `a second result of one cycle: ${record.type}`;
    if (account.unsettled.length > 0) return `${record.type} over an unsettled effect`;
  }
  if (record.type === "dispatched") {
    if (account.open !== null) return "two open dispatches";
    if (!account.causes.includes(cause)) return "a dispatch whose cause was not accepted since the last one";
    if (account.isPaused) return "a dispatch while paused";
    if (account.isCancelled || account.isRejected) return "a dispatch after a cancel or a rejection";
    if (account.asked.length > 0) return "a dispatch before the answer to a checkpoint";
    const over = record.data.cycle === "build" && account.iterationsMax !== null && account.builds >= account.iterationsMax;
    return over ? "more iterations than the budget allows" : null;
  }
  if (record.type !== "receipt") return null;
  if (account.pass === null || cause !== account.pass.check) return "a receipt without the accepted PASS that is its cause";
  return record.data.revision === account.pass.revision ? null : "a receipt for another revision than the one that passed";
}

function breachOfAction(account: Account, { record, protectedTool }: Seen): Breach | null {
  if (record.type === "tool_requested") {
    if (account.isCancelled || account.isRejected) return "an intent after a cancel or a rejection";
    if (account.unsettled.some(({ epoch }) => epoch < (record.epoch ?? 0))) return "an intent before what an earlier epoch left unknown is settled";
    if (account.outcomes[record.data.key] === "confirmed") return "an intent for an effect that is confirmed";
    if (protectedTool === record.data.tool && account.answered[record.data.approval ?? ""]?.decision !== "APPROVE") return "an intent for a protected tool without its approval";
  }
  if (record.type === "timer_fired" && record.data.kind === "approval") {
    if (Object.values(account.answered).some(({ request }) => request === record.data.timer)) return "an approval expired after its answer";
  }
  if (record.type !== "approval_decided" || record.data.decision === "PAUSE") return null;
  const before = account.answered[record.data.checkpoint];
  return before === undefined || before.request === null ? null : `two answers to one question: ${before.decision} and ${record.data.decision}`;
}

function breachOfEnd(account: Account, { record, end }: Seen): Breach | null {
  const settling = (record.type === "tool_result" || record.type === "reconciled") && account.unsettled.every(({ key }) => key === record.data.key);
  if (end === unknownEnd) return account.end !== unknownEnd && account.unsettled.length === 0 ? "an unknown outcome without an unsettled effect" : null;
  if (end !== null && end !== account.end && account.unsettled.length > 0 && !settling) return `an end hides an unknown: ${end}`;
  const isFinal = account.end?.startsWith("done") || account.end?.startsWith("cancelled");
  return isFinal && end !== account.end ? `an end that is final changed: ${account.end} to ${end}` : null;
}

function withRecord(account: Account, record: LedgerRecord): Account {
  const known = causing.has(record.type) ? { ...account, causes: [...account.causes, record.eventId] } : account;
  const owned: Account = record.epoch !== undefined && record.type !== "claimed" ? { ...known, n: record.n ?? 0 } : known;
  switch (record.type) {
    case "claimed": return { ...owned, epoch: record.epoch ?? 0, owner: record.ownerId ?? "", n: 0 };
    case "handed_back": return { ...owned, owner: "" };
    case "status": return record.data.disposition === "waiting" ? { ...owned, owner: "" } : owned;
    case "dispatched": {
      const builds = owned.builds + (record.data.cycle === "build" ? 1 : 0);
      return { ...owned, open: { id: record.eventId, cycle: record.data.cycle }, causes: [], builds, pass: null };
    }
    case "retry": return { ...owned, isPutOff: true };
    case "built": case "cycle_failed": return { ...owned, open: null, pass: null, worked: true, isPutOff: false };
    case "check": {
      const passes = record.data.verdict === "PASS" && record.data.next_steps.length === 0;
      return { ...owned, open: null, pass: passes ? { check: record.eventId, revision: record.data.revision } : null };
    }
    case "pause_requested": return { ...owned, isPaused: true };
    case "resumed": return { ...owned, isPaused: false };
    case "cancel_requested": return { ...owned, isCancelled: true };
    case "budget_raised": return { ...owned, iterationsMax: owned.iterationsMax === null ? null : owned.iterationsMax + (record.data.iterations ?? 0) };
    default: return withEffect(withQuestion(owned, record), record);
  }
}

function withEffect(account: Account, record: LedgerRecord): Account {
  if (record.type === "tool_requested") {
    const { key, contract } = record.data;
    const { [key]: _, ...outcomes } = account.outcomes;
    return { ...account, pass: null, worked: true, outcomes, unsettled: [...account.unsettled, { key, contract, epoch: record.epoch ?? 0 }] };
  }
  if (record.type !== "tool_result" && record.type !== "reconciled") return account;
  const { key, outcome } = record.data;
  const settled = outcome === "confirmed" || outcome === "happened" ? "confirmed" : "failed";
  return { ...account, unsettled: account.unsettled.filter((one) => one.key !== key), outcomes: { ...account.outcomes, [key]: settled } };
}

function withQuestion(account: Account, record: LedgerRecord): Account {
  if (record.type === "timer_fired") return withTimer(account, record.data.kind, record.data.timer);
  if (record.type === "approval_requested") {
    const { checkpoint } = record.data;
    const early = account.answered[checkpoint];
    if (early === undefined) return { ...account, asked: [...account.asked, { checkpoint, request: record.eventId }] };
    const answered = { ...account.answered, [checkpoint]: { ...early, request: record.eventId } };
    return { ...account, answered, isRejected: account.isRejected || early.decision === "REJECT" };
  }
  if (record.type !== "approval_decided" || record.data.decision === "PAUSE") return account;
  const { checkpoint, decision } = record.data;
  const question = account.asked.find((one) => one.checkpoint === checkpoint);
  const answered = { ...account.answered, [checkpoint]: { decision, request: question?.request ?? null } };
  const isRejected = account.isRejected || (decision === "REJECT" && question !== undefined);
  return { ...account, asked: account.asked.filter((one) => one !== question), answered, isRejected };
}
function withTimer(account: Account, kind: string, timer: string): Account {
  if (kind === "retry") return { ...account, isPutOff: false };
  if (kind !== "approval") return account;
  return { ...account, asked: account.asked.filter(({ request }) => request !== timer), isRejected: true };
}

/** An end leaves nothing open; a re-opening of it has no owner. */
function withEnd(account: Account, end: string | null, before: Account): Account {
  if (end === before.end) return account;
  if (end === null) return { ...account, end, owner: "", isRejected: before.end === unknownEnd && account.isRejected };
  const over = end === unknownEnd ? {} : { open: null, owner: "", asked: [], isPaused: false, isPutOff: false };
  return { ...account, ...over, end };
}
