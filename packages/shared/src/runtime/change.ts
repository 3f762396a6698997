/** What one entry made of a session: what listeners of a fold are told. */
import type { SessionId } from "../core/brand.ts";
import type { LedgerRecord } from "../core/events/envelope.ts";
import type { Verdict } from "../core/session/evolve.ts";
import type { SessionState } from "../core/session/state.ts";
import type { LogEntry } from "../ports/index.ts";

export interface Change {
  readonly sessionId: SessionId;
  readonly state: SessionState;
  readonly record: LedgerRecord | null;
  readonly verdict: Verdict;
  readonly entry: LogEntry;
}
