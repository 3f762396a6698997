/**
 * What anybody may write now, because the fold says that it is owed. Who writes it does not matter:
 * a scheduler, or the owner in the same batch as the record that calls for it, write the same bytes of id, cause and content.
 */
import type { EventId, LogTime, SessionId, Sha256 } from "../brand.ts";
import type { DataOf } from "../events/index.ts";
import { derivedId } from "../fencing/ids.ts";
import { heldBack } from "./rules/dispatching.ts";
import { endsUnknown } from "./endings.ts";
import type { Owed, SessionState, Timer } from "./state.ts";

type DerivedType = Owed["what"] | "timer_fired";
/** A derived record without its envelope's who and when. */
export interface DerivedDraft {
  readonly type: DerivedType;
  readonly eventId: EventId;
  readonly cause: EventId;
  readonly data: DataOf<DerivedType>;
}

const draftOf = (owed: Owed): DerivedDraft => ({
  type: owed.what, eventId: owed.eventId, cause: owed.cause, data: owed.content as DataOf<DerivedType>,
});

/** The next derived record that would be accepted, leaving timers aside; null = none. */
export function nextDerived(state: SessionState): DerivedDraft | null {
  if (state.hold) return null;
  if (state.statusOwed) return draftOf(state.statusOwed);
  if (state.end) return null;
  if (state.requestOwed) return draftOf(state.requestOwed);
  return state.owed && !heldBack(state) ? draftOf(state.owed) : null;
}

/** Nothing is owed behind this record, and it is accepted in this state: a dispatch leaves the word to its owner. */
export function isLastOwed(state: SessionState, derived: DerivedDraft): boolean {
  return derived.type === "dispatched" && state.open === null;
}

/** The timers that are due at `now`, as the records that say so. */
export function dueTimers(state: SessionState, now: LogTime, sha256: Sha256): DerivedDraft[] {
  if (state.hold || (state.end && !endsUnknown(state.end))) return [];
  return state.timers.filter((timer) => timer.dueAt <= now).map((timer) => firedDraft(state.sessionId, timer, sha256));
}

function firedDraft(sessionId: SessionId, timer: Timer, sha256: Sha256): DerivedDraft {
  return {
    type: "timer_fired", eventId: derivedId({ sessionId, cause: timer.armedBy, what: "timer_fired" }, sha256), cause: timer.armedBy,
    data: { timer: timer.armedBy, kind: timer.kind },
  };
}

/** When the next timer is due; null = none is armed. */
export function nextDue(state: SessionState): LogTime | null {
  return state.timers.reduce<LogTime | null>((first, timer) => (first === null || timer.dueAt < first ? timer.dueAt : first), null);
}
