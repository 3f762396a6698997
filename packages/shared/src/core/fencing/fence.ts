/**
 * The fence: may a record written under (epoch, owner, n) count?
 *
 * F1. Only the current epoch's owner may write, each record exactly once and in order: n is the last n + 1.
 * F2. The record names the dispatch that is open, and its type fits the cycle.
 * F3. A claim is a compare-and-set by log order: exactly the next epoch, for the open dispatch; the first in the log wins.
 * The same functions judge in the fold and, for an owner's record, before it is appended.
 */
import type { LedgerRecord } from "../events/envelope.ts";
import type { Cycle } from "../events/fields.ts";
import type { EventType } from "../events/index.ts";
import type { SessionState, VoidReason } from "../session/state.ts";
import type { Guards } from "./guards.ts";

const buildOnly: ReadonlySet<EventType> = new Set(["tool_requested", "tool_result", "reconciled", "built", "compaction"]);
const reviewOnly: ReadonlySet<EventType> = new Set(["check"]);

export function fitsCycle(type: EventType, cycle: Cycle): boolean {
  return cycle === "build" ? !reviewOnly.has(type) : !buildOnly.has(type);
}

/** Where an owner record stands against the current tenure; null = inside it. */
export function fence(state: SessionState, record: LedgerRecord, guards: Guards): VoidReason | null {
  const { epoch, ownerId, n } = record;
  if (epoch === undefined || ownerId === undefined || n === undefined) return "malformed";
  if (guards.fence) {
    if (epoch < state.epoch) return "stale_epoch";
    if (epoch > state.epoch) return "gap";
    if (state.owner?.id !== ownerId) return state.owner ? "rival" : "stale_epoch";
  }
  if (guards.dedupe && n <= state.n) return "duplicate";
  if (guards.fence && n > state.n + 1) return "gap";
  return null;
}

/** An owner record serves the open dispatch, and its type fits that cycle. A cycle that the owner does not serve is held by nobody. */
export function serves(state: SessionState, record: LedgerRecord): VoidReason | null {
  if (!state.open || record.cause?.eventId !== state.open.eventId) return "not_owed";
  if (state.owner && !state.owner.serves.includes(state.open.cycle)) return "wrong_cycle";
  return fitsCycle(record.type, state.open.cycle) ? null : "wrong_cycle";
}

export function claimFence(state: SessionState, record: LedgerRecord & { type: "claimed" }): VoidReason | null {
  const { epoch, ownerId, n } = record;
  if (epoch === undefined || ownerId === undefined || n !== undefined) return "malformed";
  if (epoch < state.epoch) return "stale_epoch";
  if (epoch === state.epoch) return state.owner?.id === ownerId ? "duplicate" : "rival";
  if (epoch > state.epoch + 1) return "gap";
  if (!state.open || record.data.dispatch !== state.open.eventId) return "not_owed";
  return record.data.serves.includes(state.open.cycle) ? null : "wrong_cycle";
}
