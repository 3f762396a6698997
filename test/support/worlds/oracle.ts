/**
 * A small judge over what a ledger holds: it takes the fold's verdicts and says, from the records alone, which promise they break.
 * It knows nothing of the state that the fold keeps.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { type Evolve, type Verdict, evolve } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import type { LogEntry } from "@loopledger/shared/ports";
import { createSystemIds } from "@loopledger/shared/system";
import type { EffectRow } from "./target.ts";

export interface Row {
  readonly offset: number;
  /** Of the log. */
  readonly time: number;
  readonly record: LedgerRecord | null;
  readonly verdict: Verdict;
}
export interface Folded {
  readonly rows: readonly Row[];
  readonly state: SessionState;
}
const { sha256 } = createSystemIds();

export function foldSession(entries: readonly LogEntry[], sessionId: SessionId, fold: Evolve = evolve): Folded {
  let state = emptySession(sessionId);
  const rows: Row[] = [];
  for (const { key, value, time, partition, offset } of entries) {
    if (key !== sessionId) continue;
    const parsed = parseRecord(value);
    const step = fold(state, { parsed, text: value ?? "", key, time, partition, offset, verified: "off" }, sha256);
    state = step.state;
    rows.push({ offset, time, record: parsed.kind === "record" ? parsed.record : null, verdict: step.verdict });
  }
  return { rows, state };
}

export function acceptedOf({ rows }: Folded): readonly LedgerRecord[] {
  return rows.flatMap(({ record, verdict }) => (record && verdict.kind === "accepted" ? [record] : []));
}
export function voidsOf({ rows }: Folded): readonly { readonly type: string; readonly reason: string }[] {
  return rows.flatMap(({ record, verdict }) => (verdict.kind === "void" ? [{ type: record?.type ?? "?", reason: verdict.reason }] : []));
}
export function countOf(folded: Folded, type: LedgerRecord["type"], where: (record: LedgerRecord) => boolean = () => true): number {
  return acceptedOf(folded).filter((record) => record.type === type && where(record)).length;
}

/** Every promise that the session's records break, in words; none for a sound one. */
export function brokenBy(folded: Folded): readonly string[] {
  return [...placement(folded), ...ownership(folded), ...dispatches(folded), ...unsettled(folded)];
}

function placement({ rows }: Folded): string[] {
  const broken: string[] = [];
  const seqs = rows.flatMap(({ verdict }) => (verdict.kind === "accepted" ? [verdict.seq] : []));
  seqs.forEach((seq, index) => {
    if (seq !== index + 1) broken.push(`seq ${seq} stands where ${index + 1} belongs`);
  });
  rows.forEach(({ offset }, index) => {
    const before = rows[index - 1];
    if (before && before.offset >= offset) broken.push(`offset ${offset} comes after ${before.offset}`);
  });
  const ids = new Set<string>();
  for (const { record, verdict } of rows) {
    if (!record || verdict.kind !== "accepted") continue;
    if (ids.has(record.eventId)) broken.push(`${record.type} ${record.eventId} is accepted twice`);
    ids.add(record.eventId);
  }
  return broken;
}

/** Claims come densely, and each owner record carries the epoch and owner of the last one, numbered densely. */
function ownership(folded: Folded): string[] {
  const broken: string[] = [];
  let epoch = 0;
  let owner = "";
  let n = 0;
  for (const record of acceptedOf(folded)) {
    if (record.type === "claimed") {
      if (record.epoch !== epoch + 1) broken.push(`claim of epoch ${record.epoch} after epoch ${epoch}`);
      epoch = record.epoch ?? epoch;
      owner = record.ownerId ?? "";
      n = 0;
    } else if (record.epoch !== undefined) {
      if (record.epoch !== epoch || record.ownerId !== owner) broken.push(`stale ${record.type} of epoch ${record.epoch} is accepted in epoch ${epoch}`);
      if (record.n !== n + 1) broken.push(`${record.type} has n ${record.n} after ${n}`);
      n = record.n ?? n;
    }
  }
  return broken;
}

const closes: ReadonlySet<string> = new Set(["built", "cycle_failed", "check"]);
function dispatches(folded: Folded): string[] {
  const broken: string[] = [];
  const causes = new Set<string>();
  const accepted = new Set<string>();
  let open = 0;
  for (const record of acceptedOf(folded)) {
    accepted.add(record.eventId);
    if (record.type === "dispatched") {
      const cause = record.cause?.eventId ?? "";
      if (causes.has(cause)) broken.push(`${cause} has two accepted dispatches`);
      if (!accepted.has(cause)) broken.push(`the dispatch of ${cause} has no accepted cause`);
      causes.add(cause);
      open += 1;
      if (open > 1) broken.push("two dispatches are open at once");
    }
    if (closes.has(record.type)) open -= 1;
  }
  return broken;
}

const needsSettled: ReadonlySet<string> = new Set(["built", "cycle_failed", "check", "receipt", "dispatched"]);
/** Nothing goes on over an effect that nobody saw the end of. */
function unsettled(folded: Folded): string[] {
  const broken: string[] = [];
  const open = new Map<string, number>();
  for (const record of acceptedOf(folded)) {
    if (record.type === "tool_requested") {
      if (record.data.contract === "none") continue;
      if ([...open.values()].some((epoch) => epoch < (record.epoch ?? 0))) broken.push(`${record.data.key} is asked for over an unsettled effect`);
      open.set(record.data.key, record.epoch ?? 0);
    } else if (record.type === "tool_result" || record.type === "reconciled") open.delete(record.data.key);
    else if (needsSettled.has(record.type) && open.size > 0) broken.push(`${record.type} over an unsettled ${[...open.keys()].join(", ")}`);
  }
  return broken;
}

/** What the target's own log says against the ledger: each key applied once, each application asked for by an accepted intent. */
export function brokenEffects(folded: Folded, rows: readonly EffectRow[]): readonly string[] {
  const intents = new Map<string, string>();
  for (const record of acceptedOf(folded)) if (record.type === "tool_requested") intents.set(record.data.key, record.data.argsDigest);
  const applied = new Map<string, number>();
  const broken: string[] = [];
  for (const row of rows) {
    if (row.kind !== "application" || row.session !== folded.state.sessionId) continue;
    applied.set(row.key, (applied.get(row.key) ?? 0) + 1);
    if (intents.get(row.key) !== row.argsDigest) broken.push(`${row.key} was applied without an accepted intent`);
  }
  for (const [key, times] of applied) if (times > 1) broken.push(`${key} was applied ${times} times`);
  return broken;
}
