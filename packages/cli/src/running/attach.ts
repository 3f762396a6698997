/** Follows a session that another process carries, until it has ended or waits for somebody. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { type Engine, nextChange } from "@loopledger/shared/runtime";
import { refuseLostLedger } from "@loopledger/composition/engine/lost-ledger";
import { isSettled } from "./drive.ts";

const longestMs = 1_000;

export async function attachTo(engine: Engine, sessionId: SessionId, signal: AbortSignal): Promise<SessionState> {
  for (;;) {
    const state = await engine.folds.open(sessionId);
    if (signal.aborted) return state;
    await refuseLostLedger(engine);
    if (isSettled(state)) return state;
    await nextChange(engine, sessionId, { maxMs: longestMs, signal });
  }
}
