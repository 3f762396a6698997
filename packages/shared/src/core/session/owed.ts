/** What the fold says is owed: one slot for the next step, one for a checkpoint's request, one for an end's report. */
import type { EventId, Sha256 } from "../brand.ts";
import type { LedgerRecord } from "../events/envelope.ts";
import type { Cycle } from "../events/fields.ts";
import { derivedId } from "../fencing/ids.ts";
import { type Json, sameJson } from "../json.ts";
import type { Owed, SessionState, VoidReason } from "./state.ts";

export interface DispatchContent {
  readonly cycle: Cycle;
  readonly leaf: string;
  readonly iteration: number;
  readonly task: string;
}

interface Slot { cause: EventId; what: Owed["what"]; content: Json }

export function owe(state: SessionState, slot: Slot, sha256: Sha256): Owed {
  const eventId = derivedId({ sessionId: state.sessionId, cause: slot.cause, what: slot.what }, sha256);
  return { ...slot, eventId };
}

/** The derived record is exactly what the slot calls for: by id, by cause and by content. */
export function meets(slot: Owed | null, record: LedgerRecord): VoidReason | null {
  if (!slot || slot.what !== record.type || record.cause?.eventId !== slot.cause) return "not_owed";
  if (record.eventId !== slot.eventId) return "malformed";
  return sameJson(slot.content, record.data) ? null : "not_owed";
}

/** The dispatch that is owed, if that is what is owed. */
export function owedDispatch(state: SessionState): DispatchContent | null {
  return state.owed?.what === "dispatched" ? (state.owed.content as unknown as DispatchContent) : null;
}
