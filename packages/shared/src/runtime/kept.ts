/** The sessions that a fold cache keeps in memory. */
import type { Offset, SessionId } from "../core/brand.ts";
import type { SessionState } from "../core/session/state.ts";

export interface Kept {
  state: SessionState;
  /** First offset that has not been folded. */
  next: Offset;
  /** Entries that are still to be folded, because folding the first of them threw. */
  gap: { readonly partition: number; readonly first: Offset; last: Offset } | null;
}

/** Bounded memory: sessions that have ended leave first, oldest first. */
export function makeRoom(all: Map<SessionId, Kept>, sessionsMax: number): void {
  if (all.size < sessionsMax) return;
  for (const [id, kept] of all) {
    if (kept.state.end && !kept.state.statusOwed) all.delete(id);
    if (all.size < sessionsMax * 0.9) return;
  }
}
