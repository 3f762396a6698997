/**
 * Ends, suspensions and re-openings.
 *
 * X1. While an effect is unsettled no end is reached but failed(incomplete_tool_turn); cancel and rejection wait for it, cancel first.
 * X2. An end is derived at the record that brings it; its `status` is then owed, changes nothing, and is dropped by a re-opening.
 * X3. failed(incomplete_tool_turn) keeps the open dispatch; settled, the session is re-opened with no owner.
 */
import type { EventId, LogTime, Seq, Sha256 } from "../brand.ts";
import type { Reason } from "../events/fields.ts";
import { owe } from "./owed.ts";
import { lookUp } from "./persistent-map.ts";
import type { End, SessionState } from "./state.ts";

/** What a record brings into an end: who it is and when. */
export interface Bringing {
  readonly eventId: EventId;
  readonly time: LogTime;
  readonly sha256: Sha256;
}
type Outcome = Pick<End, "disposition" | "reason"> & { readonly error?: string };

const unknownOutcome = "external outcome unknown; reconciliation required";

export function end(state: SessionState, by: Bringing, outcome: Outcome): SessionState {
  const keeps = outcome.disposition === "failed" && outcome.reason === "incomplete_tool_turn";
  const error = outcome.error ?? null;
  const report = { disposition: outcome.disposition, reason: outcome.reason, error };
  return {
    ...state,
    end: { ...report, seq: (state.seq + 1) as Seq, eventId: by.eventId, at: by.time },
    statusOwed: owe(state, { cause: by.eventId, what: "status", content: report }, by.sha256),
    ...(keeps ? {} : { open: null, owed: null, requestOwed: null, timers: [], owner: null, pending: [], suspension: null, pause: null }),
    spending: { ...state.spending, runningSince: null },
  };
}

export function handOff(state: SessionState, by: Bringing, reason: Reason): SessionState {
  return end(state, by, { disposition: "handed_off", reason });
}

/** The session ended because nobody knows what became of an effect: a person settles that, or a look does, and then it goes on. */
export function endsUnknown(end: Pick<End, "reason"> | null | undefined): boolean {
  return end?.reason === "incomplete_tool_turn";
}
/** Effects without an outcome whose owner is not the current one any more: nothing else is done before they are settled. */
export function unsettledBefore(state: SessionState): readonly string[] {
  return state.unsettled.filter((key) => (lookUp(state.effects, key)?.epoch ?? 0) < state.epoch);
}

export function failUnknown(state: SessionState, by: Bringing): SessionState {
  return end(state, by, { disposition: "failed", reason: "incomplete_tool_turn", error: unknownOutcome });
}

/** After the last unsettled effect is settled: what waited for it takes effect, cancel first; else the session goes on. */
export function afterSettling(state: SessionState, by: Bringing): SessionState {
  if (state.unsettled.length > 0) return state;
  const open: SessionState = state.end ? { ...state, end: null, statusOwed: null, owner: null } : state;
  if (state.cancel) return end(open, by, { disposition: "cancelled", reason: "cancelled" });
  if (state.pendingEnd) return end({ ...open, pendingEnd: null }, by, { disposition: "handed_off", reason: state.pendingEnd });
  return open;
}

/** A rejection or expiry: at once, or as soon as no effect is unsettled. */
export function endWhenSettled(state: SessionState, by: Bringing, reason: "approval_rejected" | "approval_expired"): SessionState {
  if (state.unsettled.length > 0) return { ...state, pendingEnd: state.pendingEnd ?? reason };
  return handOff(state, by, reason);
}
