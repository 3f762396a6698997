/** The audit: reads what was written down, folds it anew by the rules, and says what does not hold. */
import { effects } from "./checks/effects.ts";
import { acknowledged, approvers, defaultKeys, identities, lateNews, offsets, onceEach, releases } from "./checks/ledger.ts";
import type { Check, Looking } from "./checks/looking.ts";
import { absentFiles, blobs, deadLetters, secrets, streams } from "./checks/outside.ts";
import { atRest, families } from "./checks/standing.ts";
import { ViewWatch, cursors } from "./checks/views.ts";
import { Coverage } from "./coverage.ts";
import { begins } from "./fold/judge.ts";
import { homeOf, inLogOrder, partitionsOf } from "./fold/placement.ts";
import { type Entry, Session } from "./fold/session.ts";
import type { AuditInputs, AuditOptions, VerdictRow } from "./inputs.ts";
import { type Counts, Findings, type Report } from "./report.ts";
import { type Trail, entryOf, follow, placeOf } from "./trail.ts";

const checks: readonly Check[] = [
  offsets, acknowledged, onceEach, identities, releases, approvers, defaultKeys, lateNews, effects, atRest, families, streams, secrets, blobs, deadLetters,
  absentFiles, cursors,
];
/** Keys under which a ledger says what it is; they are no sessions. */
const isLedgerKey = (key: string): boolean => key.startsWith("_ledger/");

export function audit(inputs: AuditInputs, options: AuditOptions = {}): Report {
  const findings = new Findings();
  const coverage = new Coverage();
  const views = new ViewWatch(inputs.views ?? [], findings);
  const entries = inputs.ledger.map(entryOf);
  const claims = claimsOf(inputs.verdicts ?? []);
  const trails = new Map<string, Trail>();
  const partitions = partitionsOf(entries);
  for (const [id, list] of bySession(entries)) {
    const home = homeOf(list, { partitions, begins });
    const trail = follow(new Session(id, home), inLogOrder(list, home), { claims, findings, watches: [coverage, views] });
    views.over(trail.session);
    trails.set(id, trail);
  }
  views.finish();
  const looking: Looking = { inputs, options, entries, trails, findings, endedAt: options.endedAt ?? lastTime(inputs) };
  for (const check of checks) check(looking);
  const lines = coverage.lines(inputs);
  return {
    violations: findings.violations, counts: countsOf(trails), coverage: lines, uncovered: lines.filter((line) => line.count === 0).map((line) => line.name),
    sessions: trails.size,
  };
}

/** The verdicts that are followed: the first release's where several speak. */
function claimsOf(rows: readonly VerdictRow[]): ReadonlyMap<string, VerdictRow> {
  const claims = new Map<string, VerdictRow>();
  for (const row of rows) if (!claims.has(placeOf(row))) claims.set(placeOf(row), row);
  return claims;
}

/** In whatever order the dump has them. */
function bySession(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  return Map.groupBy(entries.filter(({ key }) => key !== null && !isLedgerKey(key)), ({ key }) => key ?? "");
}

function countsOf(trails: ReadonlyMap<string, Trail>): Counts {
  const counts: Counts = { accepted: 0, held: 0, void: {} };
  for (const { accepted, voided, held, strays } of trails.values()) {
    counts.accepted += accepted.length;
    counts.held += held;
    for (const { reason } of [...voided, ...strays]) counts.void[reason] = (counts.void[reason] ?? 0) + 1;
  }
  return counts;
}

function lastTime({ ledger, effects = [], faults = [] }: AuditInputs): number {
  let last = 0;
  for (const { time } of ledger) last = Math.max(last, time);
  for (const { at } of effects) last = Math.max(last, at);
  for (const { at, until } of faults) last = Math.max(last, at ?? 0, until ?? 0);
  return last;
}
