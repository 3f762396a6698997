/**
 * A session's state as a text beside its view, so that a process starts without reading the session's history.
 * It is a cache: whoever cannot read one reads the ledger instead. It never decides anything.
 *
 * N1. It carries the next offset to fold, not the last accepted one: what was refused behind it is never counted twice.
 * N2. A snapshot of another form than this release's state is none.
 */
import type { Offset, SessionId } from "../brand.ts";
import { type SessionState, emptySession } from "./state.ts";

export interface Snapshot {
  readonly state: SessionState;
  /** First offset of the session's partition that is not in the state. */
  readonly next: Offset;
}

/** Rises whenever the meaning of a member of the state changes. */
const format = 3;
const members = Object.keys(emptySession("" as SessionId));

export function writeSnapshot({ state, next }: Snapshot): string {
  return JSON.stringify({ format, next, state });
}

/** null where the text is no snapshot that this release can go on from. */
export function readSnapshot(text: string): Snapshot | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const read = value as { readonly format?: unknown; readonly next?: unknown; readonly state?: unknown } | null;
  if (read === null || typeof read !== "object" || read.format !== format || typeof read.next !== "number") return null;
  const { state } = read;
  if (state === null || typeof state !== "object" || !hasAllMembers(state)) return null;
  return { state: state as SessionState, next: read.next as Offset };
}

function hasAllMembers(state: object): boolean {
  return Object.keys(state).length === members.length && members.every((member) => Object.hasOwn(state, member));
}

/** Somebody may still have to act for it: it has not ended, or what its end calls for is not written yet. */
export function isAlive(state: SessionState): boolean {
  return state.end === null || state.statusOwed !== null || state.timers.length > 0;
}
