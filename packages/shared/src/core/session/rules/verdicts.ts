/**
 * The check's verdict and what it leads to.
 *
 * V1. PASS with next steps, and FAIL without, contradict themselves: hand off.
 * V2. INCONCLUSIVE is never a pass: bounded tries, each on a durable timer, then hand off.
 * V3. A check counts only where it is the leaf's own (or the goal's, for a leaf without one), under the digest that was pinned first (or accepted since), and from another principal than the maker.
 * V4. No PASS counts while an observation is partial, stale or failed.
 * V5. The goal's own PASS owes the receipt; at iteration 0 it ends the session without work.
 */
import type { LogTime, Seq } from "../../brand.ts";
import { spend } from "../../budget/budget.ts";
import type { RecordOf } from "../../events/envelope.ts";
import { type Json, digestOf } from "../../json.ts";
import { remainingIn } from "../../retry/breaker.ts";
import { callAfterIteration, callAtCost, callAtPlanComplete, callOnFailure } from "../checkpoints.ts";
import { buildOwed, failedAgain, major, proceed } from "../continuation.ts";
import { derivedId } from "../../fencing/ids.ts";
import { end } from "../endings.ts";
import { owe } from "../owed.ts";
import { own } from "../persistent-map.ts";
import { checkOf, leafOf, leavesWith, withLeaf } from "../plan.ts";
import { type OpenDispatch, type SessionState, type Timer, rootLeaf } from "../state.ts";
import { openOf, withoutRetry } from "./cycles.ts";
import type { Judged, Judging, Submitted } from "./rule.ts";
import { goalDigest } from "./submission.ts";

type Check = RecordOf<"check">;

export function check(state: Submitted, record: Check, by: Judging): Judged {
  const d = record.data;
  if (state.unsettled.length > 0) return "suspended";
  if (d.check !== checkOf(state, state.open?.leaf ?? rootLeaf)) return "forbidden";
  const pinned = own(state.pins, d.check);
  if (pinned && pinned.digest !== d.checkDigest) return "forbidden";
  if (state.lastBuilt && state.lastBuilt.actor === record.actor.id) return "forbidden";
  const open = openOf(state);
  const seq = (state.seq + 1) as Seq;
  const checked: SessionState = {
    ...state, open: null, timers: withoutRetry(state.timers), spending: spend(state.spending, d.usage),
    pins: pinned ? state.pins : { ...state.pins, [d.check]: { digest: d.checkDigest, pinned: d.pinned } },
    lastCheck: {
      eventId: record.eventId, verdict: d.verdict, evidence: d.evidence, next_steps: d.next_steps, revision: d.revision,
      leaf: open.leaf, iteration: open.iteration, seq,
    },
  };
  return callAtCost(state, follow(checked, record, { by, open }), by);
}

interface At { readonly by: Judging; readonly open: OpenDispatch }

function follow(state: SessionState, record: Check, at: At): SessionState {
  const { verdict, next_steps } = record.data;
  const gaps = Object.keys(state.gaps).length > 0;
  if (verdict === "INCONCLUSIVE" || (verdict === "PASS" && gaps)) return inconclusive(state, record, at);
  if ((verdict === "PASS") !== (next_steps.length === 0)) {
    const unverified = state.failureFirst === "owed" ? state : withLeaf(state, at.open.leaf, { status: "unverified" });
    return major(unverified, at.by, "contradictory_verdict");
  }
  const sure: SessionState = state.checkTries === 0 ? state : { ...state, checkTries: 0 };
  return verdict === "PASS" ? passed(sure, record, at) : failed(sure, record, at);
}

function inconclusive(state: SessionState, record: Check, { by, open }: At): SessionState {
  const tries = state.checkTries + 1;
  const waiting: SessionState = state.failureFirst === "owed" ? { ...state, checkTries: tries } : withLeaf({ ...state, checkTries: tries }, open.leaf, { status: "unverified" });
  if (tries >= (state.submission?.bounds.checkTries ?? 1)) return major(waiting, by, "check_unavailable");
  const timer: Timer = { armedBy: record.eventId, kind: "check", dueAt: (by.time + 1000 * 2 ** (tries - 1)) as LogTime, checkpoint: null };
  return { ...waiting, timers: [...waiting.timers, timer] };
}

function passed(state: SessionState, record: Check, { by, open }: At): SessionState {
  if (state.failureFirst === "owed") return alreadyGreen(state, by);
  const verified = withLeaf({ ...state, failures: { ...state.failures, check: [], remaining: null } }, open.leaf, { status: "verified", seq: (state.seq + 1) as Seq });
  if (open.leaf !== rootLeaf) return callAfterIteration(proceed(verified, by), by);
  return callAtPlanComplete(owesReceipt(verified, record, by), by);
}

/** Green before any work: every leaf counts as verified, and there is no receipt for work that nobody did. */
function alreadyGreen(state: SessionState, by: Judging): SessionState {
  const seq = (state.seq + 1) as Seq;
  const leaves = Object.fromEntries(Object.entries(state.leaves).map(([id, leaf]) => [id, { ...leaf, status: "verified" as const, seq }]));
  return end({ ...state, leaves, failureFirst: "over" }, by, { disposition: "done", reason: "no_mutation_owed" });
}

function owesReceipt(state: SessionState, record: Check, by: Judging): SessionState {
  const d = record.data;
  const content = {
    goalDigest: state.submission?.digest ?? "", check: { name: d.check, digest: d.checkDigest }, pinned: [...d.pinned],
    revision: d.revision, evidenceDigest: digestOf(d.evidence, by.sha256),
  };
  return { ...state, owed: owe(state, { cause: by.eventId, what: "receipt", content }, by.sha256) };
}

function failed(state: SessionState, record: Check, { by, open }: At): SessionState {
  const [first] = record.data.next_steps;
  if (state.failureFirst === "owed") return firstRed({ ...state, failureFirst: "over" }, first, by);
  const plan = state.submission?.plan ?? [];
  if (open.leaf === rootLeaf && plan.length > 1 && !state.recheckedSinceBuild) return recheckLeaves(state, by);
  const remaining = remainingIn(record.data.evidence);
  const improving = remaining !== null && state.failures.remaining !== null && remaining < state.failures.remaining;
  const fingerprint = `${open.leaf}:${record.data.fingerprint ?? digestOf(first as Json, by.sha256)}`;
  const judged = failedAgain(state, { kind: "check", fingerprint, improving });
  const task = typeof first === "string" ? first : leafOf(state, open.leaf).task;
  const goesOn = !judged.trips && typeof first !== "object";
  const rework: SessionState = {
    ...state, failures: { ...judged.failures, remaining }, leaves: leavesWith(state, open.leaf, { status: "needs-rework", task, seq: (state.seq + 1) as Seq }),
    owed: goesOn ? buildOwed(state, by, { leaf: open.leaf, task }) : state.owed,
  };
  if (judged.trips) return major(rework, by, "no_progress");
  if (typeof first === "object") return openChild(rework, first.goal, by);
  const on = callAfterIteration(rework, by);
  return callOnFailure(on, by, { major: false, why: task }) ?? on;
}

/** Red before any work: what a goal without a tree is built from is the check's own next step. */
function firstRed(state: SessionState, first: Check["data"]["next_steps"][number] | undefined, by: Judging): SessionState {
  const single = (state.submission?.plan.length ?? 0) === 1;
  return proceed(single && typeof first === "string" ? withLeaf(state, rootLeaf, { task: first }) : state, by);
}

/** The goal's own check is red although every leaf was green: each leaf's check runs again now, and those that fail are reworked. */
function recheckLeaves(state: SessionState, by: Judging): SessionState {
  const leaves = Object.fromEntries(Object.entries(state.leaves).map(([id, leaf]) =>
    [id, leaf.status === "verified" ? { ...leaf, status: "unverified" as const } : leaf]));
  return proceed({ ...state, leaves, recheckedSinceBuild: true }, by);
}

function openChild(state: SessionState, goal: unknown, by: Judging): SessionState {
  const bounds = state.submission?.bounds.children ?? { depth: 0, width: 0, total: 0 };
  const depth = (state.submission?.parent?.depth ?? 0) + 1;
  const children = Object.values(state.children);
  const digest = goalDigest(goal as { readonly id?: unknown }, by);
  const over = depth > bounds.depth ? "depth" : children.filter((child) => child.open).length >= bounds.width ? "width" : children.length >= bounds.total ? "total" : null;
  const child = `c-${derivedId({ sessionId: state.sessionId, cause: by.eventId, what: "child" }, by.sha256).slice(0, 32)}`;
  const slot = over
    ? { cause: by.eventId, what: "child_refused" as const, content: { goalDigest: digest, bound: over, limit: bounds[over] } }
    : { cause: by.eventId, what: "child_opened" as const, content: { child, goalDigest: digest, depth, carved: {} } };
  return { ...state, owed: owe(state, slot, by.sha256) };
}
