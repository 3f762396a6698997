/** Folds the log as a stranger who sees all of it at once: every verdict, every state in between that somebody may ask for. */
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import type { Evolve, Verdict } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import type { SessionId, Sha256 } from "@loopledger/shared/core/brand";
import type { LogEntry } from "@loopledger/shared/ports";

export interface Row {
  readonly entry: LogEntry;
  readonly record: LedgerRecord | null;
  readonly verdict: Verdict;
  readonly before: SessionState;
  readonly after: SessionState;
}

export class Observer {
  private readonly entries: readonly LogEntry[];
  private readonly evolve: Evolve;
  private readonly sha256: Sha256;
  private readonly sessions = new Map<string, Row[]>();
  private next = 0;

  constructor(entries: readonly LogEntry[], evolve: Evolve, sha256: Sha256) {
    this.entries = entries;
    this.evolve = evolve;
    this.sha256 = sha256;
  }
  /** Takes what has come since. */
  look(): this {
    for (; this.next < this.entries.length; this.next++) this.take(this.entries[this.next] as LogEntry);
    return this;
  }
  rows(session: string): readonly Row[] {
    return this.sessions.get(session) ?? [];
  }
  state(session: string): SessionState {
    return this.rows(session).at(-1)?.after ?? emptySession(session as SessionId);
  }

  private take(entry: LogEntry): void {
    if (entry.key.startsWith("_ledger/")) return;
    const rows = this.sessions.get(entry.key) ?? [];
    this.sessions.set(entry.key, rows);
    const before = rows.at(-1)?.after ?? emptySession(entry.key as SessionId);
    const parsed = parseRecord(entry.value);
    const { state, verdict } = this.evolve(before, {
      parsed, text: entry.value ?? "", key: entry.key, time: entry.time, partition: entry.partition, offset: entry.offset, verified: "off",
    }, this.sha256);
    rows.push({ entry, record: parsed.kind === "record" ? parsed.record : null, verdict, before, after: state });
  }
}
