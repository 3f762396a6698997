/**
 * The way of one session through the audit's fold. Where a reader's verdicts are given, the session follows them, so that
 * each wrong verdict is told once and what comes after it is judged on the state that the reader went on from.
 */
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { recordTextMax } from "@loopledger/shared/core/events/parse";
import { type Judgement, type Read, accept, isStray, judge, read } from "./fold/judge.ts";
import type { Case, Entry, Session } from "./fold/session.ts";
import type { DumpRow, VerdictRow } from "./inputs.ts";
import type { Findings } from "./report.ts";
import type { VoidReason } from "./rows.ts";

export interface Accepted {
  readonly record: LedgerRecord;
  readonly entry: Entry;
  readonly seq: number;
}
export interface Voided {
  readonly record: LedgerRecord | null;
  readonly entry: Entry;
  readonly reason: VoidReason;
}
/** One entry, as it went. */
export interface Step {
  readonly session: Session;
  readonly read: Read;
  readonly own: Judgement;
  readonly outcome: "accepted" | "void" | "held";
  readonly reason: VoidReason | null;
}
/** Looks on while a session is folded. */
export interface Watch {
  /** Before the record changes the session. */
  before?(step: Step): void;
  after?(step: Step): void;
}
export interface Trail {
  readonly session: Session;
  readonly accepted: readonly Accepted[];
  readonly voided: readonly Voided[];
  /** Entries that came after a record which this release does not know, and that record. */
  readonly held: number;
  /** Entries that lie away from the session's home and that no reader took: they are no part of its log, and nobody counts them to it. */
  readonly strays: readonly Voided[];
}

export function entryOf(row: DumpRow): Entry {
  const { partition, offset, time, key, value } = row;
  const text = row.text ?? (value === null || typeof value === "string" ? value : JSON.stringify(value));
  return { partition, offset, time, key, text, verified: row.verified ?? "off" };
}
export function placeOf({ partition, offset }: { readonly partition: number; readonly offset: number }): string {
  return `${partition}:${offset}`;
}
export function recordIn({ parsed }: Read): LedgerRecord | null {
  return parsed.kind === "record" ? parsed.record : null;
}

export interface Following {
  /** A reader's verdicts by place. */
  readonly claims: ReadonlyMap<string, VerdictRow>;
  readonly findings: Findings;
  readonly watches: readonly Watch[];
}

/** The way of a session through entries in log order. */
export function follow(session: Session, entries: readonly Entry[], { claims, findings, watches }: Following): Trail {
  const strays: Voided[] = [];
  const accepted: Accepted[] = [];
  const voided: Voided[] = [];
  let held = 0;
  for (const entry of entries) {
    const heard = read(entry);
    const own = judge(session, heard);
    const claim = claims.get(placeOf(entry));
    if (claim) compare(session, { read: heard, own, claim }, findings);
    const step = stepOf(session, { read: heard, own, claim });
    const record = recordIn(heard);
    if (isStray(session, entry) && step.outcome !== "accepted") {
      strays.push({ record, entry, reason: own.kind === "void" ? own.refusal.reason : "malformed" });
      continue;
    }
    for (const watch of watches) watch.before?.(step);
    take(step, record);
    if (step.outcome === "accepted" && record) accepted.push({ record, entry, seq: session.seq });
    if (step.outcome === "void" && step.reason) voided.push({ record, entry, reason: step.reason });
    if (step.outcome === "held") held += 1;
    for (const watch of watches) watch.after?.(step);
  }
  return { session, accepted, voided, held, strays };
}

interface Heard {
  readonly read: Read;
  readonly own: Judgement;
  readonly claim?: VerdictRow | undefined;
}
function stepOf(session: Session, { read: heard, own, claim }: Heard): Step {
  const reason = own.kind === "void" ? own.refusal.reason : null;
  const outcome = claim?.verdict ?? own.kind;
  return { session, read: heard, own, outcome, reason: outcome === "void" ? (claim?.reason ?? reason) : null };
}

function take({ session, read: { entry }, own, outcome, reason }: Step, record: LedgerRecord | null): void {
  switch (outcome) {
    case "accepted":
      if (record && (own.kind === "accepted" || session.submission)) goAlong({ session, record, entry } as Case);
      return;
    case "void":
      if (reason) session.voids[reason] = (session.voids[reason] ?? 0) + 1;
      if (record) session.refused.add(record.eventId);
      return;
    case "held":
      if (own.kind === "held") session.hold ??= { detail: own.detail, since: entry.time };
      return;
  }
}

/** A record that a reader took although nothing was open for it changes what it can. */
function goAlong(c: Case): void {
  try {
    accept(c);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** A reader's verdict against the audit's own. */
function compare(session: Session, { read: { entry }, own, claim }: Heard, findings: Findings): void {
  if (!claim) return;
  const at = { sessionId: session.id, partition: entry.partition, offset: entry.offset };
  const said = claim.verdict === "void" ? `void(${claim.reason ?? "no reason"})` : claim.verdict;
  if (own.kind === "void" && claim.verdict === "accepted") {
    const tooLong = own.refusal.reason === "malformed" && (entry.text?.length ?? 0) > recordTextMax;
    findings.add(tooLong ? "H2" : own.refusal.row, at, `accepted by a reader: ${own.refusal.detail}`);
  } else if (own.kind === "held" && claim.verdict === "accepted") {
    findings.add("S5", at, `accepted by a reader: ${own.detail}`);
  } else if (own.kind !== claim.verdict) {
    findings.add(own.kind === "held" ? "S5" : "T2", at, `a reader says ${said}, by the rules it is ${own.kind}`);
  } else if (own.kind === "void" && claim.reason != null && claim.reason !== own.refusal.reason) {
    findings.add("T2", at, `a reader says ${said}, by the rules it is void(${own.refusal.reason})`);
  }
  if (own.kind === "accepted" && claim.verdict === "accepted" && claim.seq != null && claim.seq !== session.seq + 1) {
    findings.add("S3", at, `seq ${claim.seq} after ${session.seq}`);
  }
}
