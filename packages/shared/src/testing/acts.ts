/** The acts of a story: who writes what, filled in from what the story has come to. */
import assert from "node:assert/strict";
import type { Epoch, EventId, OwnerId } from "../core/brand.ts";
import type { LedgerRecord, RecordOf } from "../core/events/envelope.ts";
import type { Cycle } from "../core/events/fields.ts";
import type { Bounds, Goal } from "../core/events/goal.ts";
import { type DataOf, type EventType, catalogue } from "../core/events/index.ts";
import type { TimerKind } from "../core/events/timer-fired.ts";
import { derivedId } from "../core/fencing/ids.ts";
import type { DerivedDraft } from "../core/session/derive.ts";
import { lookUp } from "../core/session/persistent-map.ts";
import type { Owed, SessionState } from "../core/session/state.ts";
import { submissionOf } from "./data.ts";
import { type Envelope, actorOf, recordOf } from "./records.ts";
import { sha256 } from "./sha256.ts";
import type { Act, Story } from "./story.ts";

export function submit(goal: Partial<Goal> = {}, bounds: Partial<Bounds> = {}): Act {
  const data = submissionOf(goal);
  return recordOf("goal_submitted", { ...data, bounds: { ...data.bounds, ...bounds } });
}

/** The record of something that is owed, whether or not it would be accepted now. */
export function recordOfDraft(draft: DerivedDraft | Owed, envelope: Envelope = {}): LedgerRecord {
  const type = "what" in draft ? draft.what : draft.type;
  const data = "what" in draft ? draft.content : draft.data;
  return recordOf(type, data as never, { eventId: draft.eventId, cause: draft.cause, actor: actorOf("scheduler"), ...envelope }) as LedgerRecord;
}
function slot(name: "owed" | "statusOwed" | "requestOwed", over: Record<string, unknown>): Act {
  return ({ state }) => {
    const owed = state[name];
    assert(owed, `nothing in ${name}`);
    const record = recordOfDraft(owed);
    return { ...record, data: { ...record.data, ...over } } as LedgerRecord;
  };
}
/** Writes what is owed next: a dispatch, the receipt, a child. */
export const owed = (over: Record<string, unknown> = {}): Act => slot("owed", over);
export const reported = (over: Record<string, unknown> = {}): Act => slot("statusOwed", over);
export const requested = (over: Record<string, unknown> = {}): Act => slot("requestOwed", over);

/** The dispatch of a cause that may never have been accepted, as a batch's second record is written ahead. */
export function dispatchAhead(cause: EventId, content: DataOf<"dispatched">, envelope: Envelope = {}): Act {
  return ({ state }) => {
    const eventId = derivedId({ sessionId: state.sessionId, cause, what: "dispatched" }, sha256);
    return recordOf("dispatched", content, { eventId, cause, actor: actorOf("scheduler"), ...envelope });
  };
}

interface Claiming { readonly serves?: readonly Cycle[]; readonly epoch?: number; readonly dispatch?: EventId; readonly envelope?: Envelope }
/** Claims the open dispatch under the next epoch. */
export function claim(ownerId: string, over: Claiming = {}): Act {
  return ({ state }) => {
    const epoch = (over.epoch ?? state.epoch + 1) as Epoch;
    const dispatch = over.dispatch ?? state.open?.eventId ?? ("none" as EventId);
    const data = { dispatch, ...(over.serves ? { serves: [...over.serves] } : {}) };
    return recordOf("claimed", data, { ownerId: ownerId as OwnerId, epoch, ...over.envelope });
  };
}

/** What an owner record says about its dispatch and its effect, unless the test names it. */
function filledIn(type: EventType, state: SessionState, data: Record<string, unknown>): Record<string, unknown> {
  const dispatch = state.open?.eventId ?? ("none" as EventId);
  switch (type) {
    case "tool_requested":
      return { dispatch, leaf: state.open?.leaf ?? "goal", iteration: state.open?.iteration ?? 1 };
    case "cycle_failed": case "handed_back": return { dispatch };
    case "reconciled": {
      const key = (data["key"] as string | undefined) ?? "deploy:production";
      return { intent: lookUp(state.effects, key)?.intent ?? "none", epoch: state.epoch, key };
    }
    default: return {};
  }
}
/** A record of the current owner: its epoch, the next n, the open dispatch. */
export function own<T extends EventType>(type: T, data: Partial<DataOf<T>> = {}, envelope: Envelope = {}): (story: Story) => RecordOf<T> {
  return ({ state }) => {
    const filled = { ...filledIn(type, state, data), ...data } as Partial<DataOf<T>>;
    const owner = catalogue[type].writers.find((kind) => kind !== "human" && kind !== "scheduler");
    return recordOf(type, filled, {
      epoch: state.epoch, ownerId: state.owner?.id ?? ("nobody" as OwnerId), n: state.n + 1, cause: state.open?.eventId ?? ("none" as EventId),
      actor: actorOf(owner ?? "worker"), ...envelope,
    });
  };
}
/** An act of a person. */
export function person<T extends EventType>(type: T, data: Partial<DataOf<T>> = {}, id = "ann"): Act {
  return ({ state }) => recordOf(type, { ...filledIn(type, state, data), ...data } as Partial<DataOf<T>>, { actor: actorOf("human", id) }) as LedgerRecord;
}
/** An act of the scheduler. */
export function scheduler<T extends EventType>(type: T, data: Partial<DataOf<T>> = {}): Act {
  return recordOf(type, data, { actor: actorOf("scheduler") }) as LedgerRecord;
}

/** The record that fires the newest timer of a kind. */
export function fired(kind: TimerKind, over: { timer?: EventId; kind?: TimerKind; eventId?: EventId } = {}): Act {
  return ({ state }) => firing(state, over.timer ?? armed(state, kind), { kind: over.kind ?? kind, eventId: over.eventId });
}
export function armed(state: SessionState, kind: TimerKind): EventId {
  const timer = state.timers.findLast((one) => one.kind === kind);
  assert(timer, `no ${kind} timer is armed`);
  return timer.armedBy;
}
function firing(state: SessionState, timer: EventId, as: { kind: TimerKind; eventId?: EventId | undefined }): LedgerRecord {
  const eventId = as.eventId ?? derivedId({ sessionId: state.sessionId, cause: timer, what: "timer_fired" }, sha256);
  return recordOf("timer_fired", { timer, kind: as.kind }, { eventId, cause: timer, actor: actorOf("scheduler") });
}
