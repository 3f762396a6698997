/** What a process with a given fold would say of a log, for the audit to judge. */
import type { AuditInputs, DumpRow, Violation } from "@loopledger/audit";
import { evolve } from "@loopledger/shared/core/session/evolve";
import { emptySession } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { entryOfText, sha256, testSession } from "@loopledger/shared/testing";

export interface Fold {
  readonly evolve: typeof evolve;
  readonly statusOf: typeof statusOf;
}
export const realFold: Fold = { evolve, statusOf };
type View = NonNullable<AuditInputs["views"]>[number];

/** Its verdict on every entry, and its view at the end, or after every entry. What lies away from home is not counted to the session: its reader never sees it. */
export function saidBy(fold: Fold, ledger: readonly DumpRow[], everywhere = false): AuditInputs {
  let state = emptySession(testSession);
  const views: View[] = [];
  const look = (next?: number): void => {
    const status = JSON.parse(JSON.stringify(fold.statusOf(state))) as Record<string, unknown>;
    views.push({ kind: "view", sessionId: testSession, status, ...(next !== undefined && { next }) });
  };
  const verdicts = ledger.map(({ partition, offset, time, key, text, verified }) => {
    const entry = entryOfText(text ?? "", { partition, offset: offset as never, time: time as never, key: key ?? "", verified: verified ?? "off" });
    const { state: after, verdict } = fold.evolve(state, entry, sha256);
    const isStray = state.position !== null && state.position.partition !== partition;
    if (!isStray || verdict.kind !== "void") state = after;
    if (everywhere) look(offset + 1);
    return { partition, offset, verdict: verdict.kind, reason: verdict.kind === "void" ? verdict.reason : null, seq: verdict.kind === "accepted" ? verdict.seq : null };
  });
  look();
  return { ledger, verdicts, views };
}

/** Violations that say something of a reader's fold; hostile logs break other rows by themselves. */
export function aboutFolds(violations: readonly Violation[]): Violation[] {
  return violations.filter(({ id, detail }) => detail.includes("reader") || id === "T1" || id === "S5" || id === "E4" || id === "B6");
}
