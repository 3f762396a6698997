/** What the audit says: violations, counts, coverage. */
import type { RowId, VoidReason } from "./rows.ts";

export interface Violation {
  readonly id: RowId;
  readonly sessionId: string | null;
  readonly partition: number | null;
  readonly offset: number | null;
  readonly detail: string;
}
export interface Counts {
  accepted: number;
  held: number;
  readonly void: { [R in VoidReason]?: number };
}
export interface CoverageLine {
  readonly name: string;
  readonly what: string;
  readonly count: number;
}
export interface Report {
  readonly violations: readonly Violation[];
  readonly counts: Counts;
  readonly coverage: readonly CoverageLine[];
  /** Names of what was never seen. */
  readonly uncovered: readonly string[];
  readonly sessions: number;
}
export type AuditExit = 0 | 1 | 2;

/** 0 clean, 1 a violation, 2 not enough coverage where it is required. Bad input is 3, and no report. */
export function exitOf(report: Report, requireCoverage: boolean): AuditExit {
  if (report.violations.length > 0) return 1;
  return requireCoverage && report.uncovered.length > 0 ? 2 : 0;
}

export interface At {
  readonly sessionId?: string | null | undefined;
  readonly partition?: number | null | undefined;
  readonly offset?: number | null | undefined;
}
/** Collects violations in the order in which they are found; one place is never said twice. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly #said = new Set<string>();

  add(id: RowId, at: At, detail: string): void {
    const { sessionId = null, partition = null, offset = null } = at;
    const said = [id, sessionId, partition, offset, detail].join("\n");
    if (this.#said.has(said)) return;
    this.#said.add(said);
    this.violations.push({ id, sessionId, partition, offset, detail });
  }
}
