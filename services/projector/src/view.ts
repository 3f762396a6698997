/** State → what is written of a session: the status document and the snapshot. Pure: the same state gives the same bytes everywhere. */
import type { ViewWrite } from "@loopledger/shared/ports";
import { canonicalJson } from "@loopledger/shared/core/json";
import { type Snapshot, isAlive, writeSnapshot } from "@loopledger/shared/core/session/snapshot";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";

/** A key under which no goal was ever accepted has no view, unless a newer release may know what it is. */
function isShown(state: SessionState): boolean {
  return state.submission !== null || state.hold !== null;
}

/** The view of a session; null where it has none. */
export function viewOf({ state, next }: Snapshot): ViewWrite | null {
  if (!isShown(state)) return null;
  const status = statusOf(state);
  return {
    sessionId: state.sessionId, disposition: status.disposition, at: state.at ?? state.hold?.since ?? 0, labels: status.labels,
    document: canonicalJson(status), snapshot: isAlive(state) ? writeSnapshot({ state, next }) : null,
  };
}
