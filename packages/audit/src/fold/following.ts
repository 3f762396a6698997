/**
 * What follows from an accepted record: the next cycle of the tree, a checkpoint, an end. Everything that comes to be owed
 * is made here, with the record under judgement as its cause.
 */
import type { CheckpointTrigger } from "@loopledger/shared/core/events/approval-requested";
import type { Reason } from "@loopledger/shared/core/events/fields";
import type { Json } from "@loopledger/shared/core/json";
import { derivedId, digestOf } from "./hashing.ts";
import type { Case, Derived, End, Owed } from "./session.ts";
import { rootId } from "./tree.ts";

const outcomeUnknown = "external outcome unknown; reconciliation required";

export function owing({ record, entry }: Case, what: Derived, content: Json): Owed {
  return { what, cause: record.eventId, content, since: entry.time };
}
export function oweBuild(c: Case, leaf: string, task: string): void {
  c.session.owed = owing(c, "dispatched", { cycle: "build", leaf, iteration: c.session.iteration + 1, task });
}
export function oweReview(c: Case, leaf: string): void {
  const { iteration, tree } = c.session;
  c.session.owed = owing(c, "dispatched", { cycle: "review", leaf, iteration, task: tree.at(leaf).task });
}

/** The cycle that the tree calls for: the goal's check before any work, then leaf by leaf. */
export function goOn(c: Case): void {
  const { session } = c;
  if (session.awaitsFirstCheck) {
    oweReview(c, rootId);
    return;
  }
  session.tree.close();
  const node = session.tree.next();
  if (!node) return;
  const looks = node.status === "unverified" || (node.status === "open" && node.children.length > 0);
  if (looks) oweReview(c, node.id);
  else oweBuild(c, node.id, node.task);
}

/** Whether the window of failures says that the loop gets nowhere: k equal ones, or A/B/A/B. */
export function failsAgain(c: Case, kind: "build" | "check", failure: { readonly print: string; readonly improves: boolean }): boolean {
  const { failures, submission } = c.session;
  const most = submission?.bounds.breakerSame ?? null;
  const list = failure.improves ? [] : failures[kind];
  list.push(failure.print);
  failures[kind] = list;
  if (most === null) return false;
  const run = list.length - 1 - list.findLastIndex((print) => print !== failure.print);
  const [a, b, x, y] = list.slice(-4);
  return run >= most || (y !== undefined && a === x && b === y && a !== b);
}
function forgetFailures(c: Case): void {
  c.session.failures = { build: [], check: [] };
  c.session.checkTries = 0;
}

/** A failure that hands off, unless the policy wants a person to decide. */
export function giveUp(c: Case, reason: Reason): void {
  if (policyOf(c, "onFailure") === null) {
    endAs(c, { disposition: "handed_off", reason });
    return;
  }
  forgetFailures(c);
  goOn(c);
  askOnFailure(c, { major: true, why: reason });
}

type PolicyKey = "everyIterations" | "onFailure" | "onPlanComplete" | "costUsd" | "before";
interface Policy { readonly value: unknown; readonly expires: number | null }
/** The first entry of the goal's approvals with this member for which `holds`. */
function policyOf(c: Case, key: PolicyKey, holds: (value: unknown) => boolean = () => true): Policy | null {
  for (const one of c.session.submission?.goal.policy?.approvals ?? []) {
    const entry = one as { readonly [K in PolicyKey]?: unknown } & { readonly expiresSeconds?: number | undefined };
    if (entry[key] !== undefined && holds(entry[key])) return { value: entry[key], expires: entry.expiresSeconds ?? null };
  }
  return null;
}
export function isProtected(c: Case, tool: string): boolean {
  return policyOf(c, "before", (value) => value === tool) !== null;
}

/** A person must decide before the session goes on. One request at a time. */
export function ask(c: Case, trigger: CheckpointTrigger, { action, expires, by }: { readonly action: Json; readonly expires: number | null; readonly by?: string }): void {
  const { session, record } = c;
  if (session.request || session.end) return;
  const checkpoint = `cp-${derivedId(session.id, record.eventId, trigger).slice(0, 16)}`;
  const request = owing(c, "approval_requested", { checkpoint, trigger, action, digest: digestOf(action), expires });
  session.request = by === undefined ? request : { ...request, by };
  session.pending.push(checkpoint);
}
export function askAfterIteration(c: Case): void {
  const { owed, iteration } = c.session;
  const build = owed?.what === "dispatched" && (owed.content as { readonly cycle?: string }).cycle === "build";
  if (!build || iteration === 0) return;
  const due = policyOf(c, "everyIterations", (every) => iteration % (every as number) === 0);
  if (due) ask(c, "every_iterations", { action: { continue: true, iteration }, expires: due.expires });
}
export function askOnFailure(c: Case, { major, why }: { readonly major: boolean; readonly why: string }): void {
  const due = policyOf(c, "onFailure", (value) => major || value === "any");
  if (due) ask(c, "on_failure", { action: { retry: true, why }, expires: due.expires });
}
export function askAtCompletion(c: Case): void {
  const due = policyOf(c, "onPlanComplete");
  if (due) ask(c, "on_plan_complete", { action: { complete: true }, expires: due.expires });
}
/** `costBefore`: what was spent before the record. */
export function askAtCost(c: Case, costBefore: number): void {
  const spent = c.session.purse.costUsd;
  const due = policyOf(c, "costUsd", (threshold) => costBefore < (threshold as number) && spent >= (threshold as number));
  if (due) ask(c, "cost", { action: { continue: true, costUsd: due.value as number }, expires: due.expires });
}

export function endAs(c: Case, outcome: Pick<End, "disposition" | "reason"> & { readonly error?: string }): void {
  const { session, entry } = c;
  const said = { disposition: outcome.disposition, reason: outcome.reason, error: outcome.error ?? null };
  session.end = { ...said, at: entry.time };
  session.report = owing(c, "status", said);
  session.purse.rest();
  if (session.isUnknown) return;
  session.open = null;
  session.owed = null;
  session.request = null;
  session.owner = null;
  session.timers = [];
  session.pending = [];
  session.suspension = null;
  session.pause = null;
}
export function failUnknown(c: Case): void {
  endAs(c, { disposition: "failed", reason: "incomplete_tool_turn", error: outcomeUnknown });
}
/** At once, or as soon as no effect is unsettled. */
export function endWhenSettled(c: Case, reason: "approval_rejected" | "approval_expired"): void {
  if (c.session.unsettled.size === 0) endAs(c, { disposition: "handed_off", reason });
  else c.session.endsAs ??= reason;
}
/** What waited for the last unsettled effect, cancel first; where nothing did, a session that failed on it is open again. */
export function afterSettling(c: Case): void {
  const { session } = c;
  if (session.unsettled.size > 0) return;
  if (session.isUnknown) {
    session.end = null;
    session.report = null;
    session.owner = null;
  }
  const waited = session.endsAs;
  if (session.cancelled) endAs(c, { disposition: "cancelled", reason: "cancelled" });
  else if (waited) {
    session.endsAs = null;
    endAs(c, { disposition: "handed_off", reason: waited });
  }
}
