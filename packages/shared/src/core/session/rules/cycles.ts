/**
 * How a cycle ends: built, failed, handed back, put off, or suspended by its owner.
 *
 * Y1. No `built` and no `cycle_failed` while an effect is unsettled.
 * Y2. A retry keeps its dispatch open and arms a timer; until it fires no owner goes on in it. Only `cycle_failed` closes it.
 * Y3. A failed attempt is the same task again, counted as an iteration, until the breaker hands off.
 */
import type { LogTime, Seq } from "../../brand.ts";
import type { EventType } from "../../events/index.ts";
import { countRunning, spend } from "../../budget/budget.ts";
import { callAfterIteration, callAtCost, callOnFailure } from "../checkpoints.ts";
import { failedAgain, major, proceed, reviewOwed } from "../continuation.ts";
import { cutText } from "../../json.ts";
import { failUnknown, unsettledBefore } from "../endings.ts";
import { own } from "../persistent-map.ts";
import { leavesWith } from "../plan.ts";
import type { OpenDispatch, SessionState, Suspension, Timer } from "../state.ts";
import type { Rules } from "./rule.ts";

export const cycleRules: Rules<"built" | "cycle_failed" | "handed_back" | "retry" | "step" | "status"> = {
  built(state, record, by) {
    if (state.unsettled.length > 0) return "suspended";
    const open = openOf(state);
    const d = record.data;
    const seq = (state.seq + 1) as Seq;
    const built: SessionState = {
      ...state, open: null, timers: withoutRetry(state.timers), spending: spend(state.spending, d.usage), guidance: [], recheckedSinceBuild: false, checkTries: 0,
      work: { ...state.work, [open.leaf]: { settled: [], steps: {} } }, failures: state.failures.build.length === 0 ? state.failures : { ...state.failures, build: [] },
      lastBuilt: {
        summary: d.summary, revision: d.revision, actor: record.actor.id, leaf: open.leaf, iteration: open.iteration,
        artifacts: d.artifacts ?? [], seq,
      },
      leaves: leavesWith(state, open.leaf, { status: "unverified", everBuilt: true, seq }), owed: reviewOwed(state, by, open.leaf),
    };
    return callAtCost(state, built, by);
  },

  cycle_failed(state, record, by) {
    if (state.unsettled.length > 0) return "suspended";
    if (record.data.dispatch !== state.open?.eventId) return "not_owed";
    const d = record.data;
    const judged = failedAgain(state, { kind: "build", fingerprint: d.fingerprint, improving: false, message: cutText(d.message, 500) });
    const failed: SessionState = { ...state, open: null, timers: withoutRetry(state.timers), spending: spend(state.spending, d.usage), failures: judged.failures };
    if (d.class === "transient" && d.terminal) return major(failed, by, "retries_exhausted");
    if (d.terminal || judged.trips) return major(failed, by, "deterministic_error");
    const again = callAfterIteration(proceed(failed, by), by);
    return callAtCost(state, callOnFailure(again, by, { major: false, why: d.message }) ?? again, by);
  },

  handed_back(state, record) {
    if (record.data.dispatch !== state.open?.eventId) return "not_owed";
    return { ...state, owner: null };
  },

  retry(state, record, by) {
    if (!state.open) return "not_owed";
    const { attempt, delay_seconds, errorClass, error } = record.data;
    if (errorClass === "deterministic" || attempt !== state.open.retries + 1 || attempt > state.submission.bounds.retryAttempts) return "forbidden";
    if (waitsForRetry(state)) return "suspended";
    const timer: Timer = { armedBy: record.eventId, kind: "retry", dueAt: (by.time + delay_seconds * 1000) as LogTime, checkpoint: null };
    return {
      ...state, timers: [...state.timers, timer], open: { ...state.open, retries: attempt, lastError: error },
      spending: countRunning(state.spending, by.time, false),
    };
  },

  step(state, record) {
    const { name, inputDigest, result } = record.data;
    const leaf = state.open?.leaf ?? "";
    const work = own(state.work, leaf) ?? { settled: [], steps: {} };
    const known = own(work.steps, name);
    if (known) return known.inputDigest === inputDigest ? "duplicate" : "key_conflict";
    return { ...state, work: { ...state.work, [leaf]: { ...work, steps: { ...work.steps, [name]: { inputDigest, result } } } } };
  },

  /** The owner's own act: it suspends the session, or says that looking stayed without an answer. */
  status(state, record, by) {
    const { disposition, reason, error, detail } = record.data;
    if (disposition === "failed" && reason === "incomplete_tool_turn") {
      const looked = unsettledBefore(state).length > 0;
      return looked ? failUnknown(state, by) : "not_owed";
    }
    if (disposition !== "waiting" || !isSuspension(reason)) return "forbidden";
    if (state.unsettled.length > 0) return "suspended";
    const suspension: Suspension = { reason, error, detail: detail ?? null, seq: (state.seq + 1) as Seq, since: by.time };
    return { ...state, suspension, owner: null };
  },
};

function isSuspension(reason: string | null): reason is Suspension["reason"] {
  return reason === "handler_missing" || reason === "check_changed" || reason === "evidence_missing" || reason === "budget_exhausted";
}

/** The dispatch that a record of its owner ends. */
export function openOf(state: SessionState): OpenDispatch {
  if (!state.open) throw new RangeError("no open dispatch");
  return state.open;
}
/** A dispatch that is over leaves nothing armed. */
export function withoutRetry(timers: readonly Timer[]): readonly Timer[] {
  return timers.length === 0 ? timers : timers.filter((timer) => timer.kind !== "retry");
}

const duringRetry: ReadonlySet<EventType> = new Set(["tool_result", "reconciled", "cycle_failed", "handed_back", "error", "status"]);
/** What an owner may write while a retry is armed: settling, giving up, and what only informs. */
export function goesOnDuringRetry(type: EventType): boolean {
  return duringRetry.has(type);
}
/** The retry of the open dispatch; there is never more than one. */
export function armedRetry({ timers }: Pick<SessionState, "timers">): Timer | null {
  return timers.find((timer) => timer.kind === "retry") ?? null;
}
/** While a retry is armed nobody goes on in its dispatch. */
export function waitsForRetry(state: SessionState): boolean {
  return armedRetry(state) !== null;
}
