/**
 * `decide`: what one process may do next for one session. Pure; whether the holder lives is told to it.
 *
 * Z1. Only who carries the session in memory without a break goes on in its epoch; who dropped it claims the next one.
 * Z2. What is unsettled from an earlier epoch is settled before anything else is done.
 * Z3. A lease or a dead process decides only whether to try; the claim's verdict decides whether to act.
 * Z4. Between two steps an owner has no call under way: an effect of its own epoch without an outcome is lost, and it claims the next one.
 */
import type { EventId, LogTime, OwnerId } from "../brand.ts";
import type { Cycle } from "../events/fields.ts";
import { nextDue } from "./derive.ts";
import { endsUnknown, unsettledBefore } from "./endings.ts";
import { values } from "./persistent-map.ts";
import { heldBack } from "./rules/dispatching.ts";
import { waitsForRetry } from "./rules/cycles.ts";
import { type Checkpoint, type SessionState, holderOf } from "./state.ts";

export interface Seat {
  readonly ownerId: OwnerId;
  /** The cycles that this process runs. */
  readonly serves: readonly Cycle[];
  /** This process carries the session in memory, in the current epoch, without a break. */
  readonly carries: boolean;
  /** Whether the process that the fold names owner still lives, as far as anybody can tell. */
  readonly ownerIs: "live" | "gone";
}
export type Decision =
  | { readonly do: "claim"; readonly dispatch: EventId; readonly cycle: Cycle }
  | { readonly do: "settle"; readonly keys: readonly string[] }
  | { readonly do: "perform"; readonly checkpoint: Checkpoint }
  | { readonly do: "run"; readonly cycle: Cycle }
  | { readonly do: "hand_back"; readonly why: string }
  /** Nothing to do before `until` or before somebody else acts. */
  | { readonly do: "wait"; readonly until: LogTime | null; readonly on: WaitsOn }
  | { readonly do: "over" };
export type WaitsOn = "person" | "budget" | "timer" | "holder" | "role" | "schedule" | "schema";

export function decide(state: SessionState, seat: Seat): Decision {
  if (state.hold) return wait("schema");
  if (state.end) return endsUnknown(state.end) ? wait("person") : { do: "over" };
  if (!state.open) return waitForDispatch(state);
  return seat.carries ? goOn(state, seat, state.open.cycle) : takeOver(state, seat);
}

function wait(on: WaitsOn, until: LogTime | null = null): Decision {
  return { do: "wait", on, until };
}

function waitForDispatch(state: SessionState): Decision {
  const due = nextDue(state);
  const held = heldBack(state);
  if (held === "budget_exhausted") return wait("budget", due);
  if (held !== null && held !== "cancelling") return wait("person", due);
  return due === null ? wait("schedule") : wait("timer", due);
}

/** The work of the owner itself. */
function goOn(state: SessionState, seat: Seat, cycle: Cycle): Decision {
  const earlier = unsettledBefore(state);
  if (earlier.length > 0) return { do: "settle", keys: earlier };
  if (state.open && state.unsettled.length > 0) return { do: "claim", dispatch: state.open.eventId, cycle };
  // Its claim does not cover it: nobody holds it, and there is nothing to give back.
  if (!seat.serves.includes(cycle)) return wait("role");
  if (state.pause?.now) return { do: "hand_back", why: "paused" };
  if (waitsForRetry(state)) return wait("timer", nextDue(state));
  if (state.pending.length > 0) return { do: "hand_back", why: "waits for a decision" };
  const approved = approvedAction(state);
  return approved && cycle === "build" ? { do: "perform", checkpoint: approved } : { do: "run", cycle };
}

/** A decision that lets a tool call through that has not been made. */
function approvedAction(state: SessionState): Checkpoint | null {
  if (state.checkpoints.size === 0) return null;
  const open = values(state.checkpoints).filter((one) => one.request !== null && one.servedKey === null && isToolAction(one.approvedAction));
  return open.sort((a, b) => a.seq - b.seq)[0] ?? null;
}
function isToolAction(action: unknown): boolean {
  return action !== null && typeof action === "object" && Object.hasOwn(action, "tool");
}

function takeOver(state: SessionState, seat: Seat): Decision {
  const { open } = state;
  if (!open) return wait("schedule");
  const settles = state.unsettled.length > 0;
  if (!settles && state.suspension?.reason === "budget_exhausted") return wait("budget", nextDue(state));
  if (!settles && (state.suspension || state.pause?.now || state.pending.length > 0)) return wait("person", nextDue(state));
  if (!seat.serves.includes(open.cycle)) return wait("role");
  if (waitsForRetry(state)) return wait("timer", nextDue(state));
  const holder = holderOf(state);
  const free = !holder || holder.id === seat.ownerId || seat.ownerIs === "gone";
  return free ? { do: "claim", dispatch: open.eventId, cycle: open.cycle } : wait("holder");
}
