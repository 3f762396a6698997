/** The target's own log against the ledger: what was called, applied and looked up, and what the records say of it. */
import type { RecordOf } from "@loopledger/shared/core/events/envelope";
import type { EffectRow } from "../inputs.ts";
import type { Accepted, Trail } from "../trail.ts";
import { type Check, type Looking, whereIs } from "./looking.ts";

type Is<T extends Accepted["record"]["type"]> = Accepted & { readonly record: RecordOf<T> };
/** One intent and what became of it. */
export interface Intent {
  readonly trail: Trail;
  readonly asked: Is<"tool_requested">;
  readonly settled: Is<"tool_result"> | Is<"reconciled"> | null;
  /** The next intent under the same key. */
  readonly askedAgainAt: number;
}
interface Lagging extends Looking {
  readonly rows: readonly EffectRow[];
  readonly byKey: ReadonlyMap<string, readonly EffectRow[]>;
  readonly lag: number;
}
const nameOf = (session: string, tool: string, key: string): string => JSON.stringify([session, tool, key]);

function intentsOf(trail: Trail): Intent[] {
  const open = new Map<string, { asked: Is<"tool_requested">; settled: Intent["settled"]; askedAgainAt: number }>();
  const all: { trail: Trail; asked: Is<"tool_requested">; settled: Intent["settled"]; askedAgainAt: number }[] = [];
  for (const one of trail.accepted) {
    const { record } = one;
    if (record.type === "tool_requested") {
      const before = open.get(record.data.key);
      if (before) before.askedAgainAt = one.entry.time;
      const intent = { trail, asked: one as Is<"tool_requested">, settled: null, askedAgainAt: Number.POSITIVE_INFINITY };
      open.set(record.data.key, intent);
      all.push(intent);
    } else if (record.type === "tool_result" || record.type === "reconciled") {
      const intent = open.get(record.data.key);
      if (intent) intent.settled = one as Is<"tool_result">;
    }
  }
  return all;
}

export const effects: Check = (looking) => {
  if (looking.inputs.effects === undefined) return;
  const rows = looking.inputs.effects;
  const byKey = Map.groupBy(rows, ({ session, tool, key }) => nameOf(session, tool, key));
  const lagging: Lagging = { ...looking, rows, byKey, lag: looking.options.clockLagMs ?? 0 };
  const intents = [...looking.trails.values()].flatMap(intentsOf);
  askedFirst(lagging, intents);
  atMostOnce(lagging);
  exactlyOnce(lagging);
  for (const intent of intents) {
    toldTruly(lagging, intent);
    lookedFirst(lagging, intent);
    unsafeOnce(lagging, intent);
  }
  epochsRise(lagging, intents);
  refusedStays(lagging);
};

function ofKey({ byKey }: Lagging, { trail, asked }: Intent): readonly EffectRow[] {
  return byKey.get(nameOf(trail.session.id, asked.record.data.tool, asked.record.data.key)) ?? [];
}

/** E1. */
function askedFirst({ rows, lag, findings }: Lagging, intents: readonly Intent[]): void {
  const byKey = Map.groupBy(intents, ({ trail, asked }) => nameOf(trail.session.id, asked.record.data.tool, asked.record.data.key));
  for (const row of rows) {
    if (row.kind !== "application") continue;
    const asked = (byKey.get(nameOf(row.session, row.tool, row.key)) ?? []).some(({ asked: { record, entry } }) =>
      (row.argsDigest == null || record.data.argsDigest === row.argsDigest) && entry.time <= row.at + lag);
    if (!asked) findings.add("E1", { sessionId: row.session }, `${row.tool} ${row.key} is applied without such an intent before it`);
  }
}

/** E2 by key, E9 by the target's own name of the action. */
function atMostOnce({ rows, findings }: Lagging): void {
  const applied = rows.filter((row) => row.kind === "application");
  for (const [name, again] of Map.groupBy(applied, (row) => `${row.tool} ${row.key}`)) {
    if (again.length > 1) findings.add("E2", { sessionId: again[1]?.session }, `${name} is applied ${again.length} times`);
  }
  for (const [name, again] of Map.groupBy(applied.filter((row) => row.action !== undefined), (row) => `${row.tool} ${row.action}`)) {
    const keys = new Set(again.map((row) => row.key));
    if (keys.size > 1) findings.add("E9", { sessionId: again[1]?.session }, `${name} is applied under ${keys.size} keys: ${[...keys].join(", ")}`);
  }
}
/** E2, for runs that the generator expects to end done with these keys. */
function exactlyOnce({ rows, inputs, findings }: Lagging): void {
  for (const row of inputs.expected ?? []) {
    if (row.kind !== "session" || row.ends !== "done") continue;
    for (const key of row.keys ?? []) {
      const times = rows.filter((one) => one.kind === "application" && one.key === key && one.session === row.sessionId).length;
      if (times === 0) findings.add("E2", { sessionId: row.sessionId }, `${key} is never applied`);
    }
  }
}

/** The target says nothing of makers, nor of calls that only read. */
function isTold({ asked }: Intent): boolean {
  const { tool, contract } = asked.record.data;
  return contract !== "none" && !tool.startsWith("maker:");
}
/** E3; and E10 where it was applied after somebody concluded that it had not been. */
function toldTruly(lagging: Lagging, intent: Intent): void {
  const { settled, trail, askedAgainAt } = intent;
  const { findings } = lagging;
  if (!settled || !isTold(intent)) return;
  const applied = ofKey(lagging, intent).filter((row) => row.kind === "application");
  const { record, entry } = settled;
  const { key } = record.data;
  const happened = record.data.outcome === "confirmed" || record.data.outcome === "happened";
  if (happened && applied.length === 0) findings.add("E3", whereIs(trail, settled), `${key} is recorded as done, and the target has not done it`);
  const own = applied.filter((row) => row.at >= intent.asked.entry.time && row.at < askedAgainAt);
  if (happened || own.length === 0) return;
  const after = record.type === "reconciled" && own.every((row) => row.at > entry.time);
  findings.add(after ? "E10" : "E3", whereIs(trail, settled), `${key} is recorded as not done, and the target has done it${after ? " afterwards" : ""}`);
}

/** E7, and E10's look behind the fence. */
function lookedFirst(lagging: Lagging, intent: Intent): void {
  const { lag, findings } = lagging;
  const { settled, trail, asked } = intent;
  if (settled?.record.type !== "reconciled" || !isTold(intent)) return;
  const { record, entry } = settled;
  const { epoch, outcome, key } = record.data;
  const looks = ofKey(lagging, intent).filter((row) => row.kind === "lookup" && row.epoch === epoch && row.at <= entry.time + lag && row.at + lag >= asked.entry.time);
  if (looks.length === 0 && record.epoch !== undefined) {
    findings.add("E7", whereIs(trail, settled), `${key}: the target saw no look at epoch ${epoch}`);
    return;
  }
  const claimedAt = lastClaimBefore(trail, settled);
  const windowIsOver = entry.time > Math.max(asked.entry.time, claimedAt) + asked.record.data.callWindowSeconds * 1000;
  if (outcome !== "did_not_happen" || windowIsOver) return;
  if (!looks.some((row) => row.at + lag >= claimedAt)) findings.add("E10", whereIs(trail, settled), `${key}: the target was not fenced at epoch ${epoch}`);
}
function lastClaimBefore({ accepted }: Trail, { seq }: Accepted): number {
  return accepted.findLast((one) => one.record.type === "claimed" && one.seq < seq)?.entry.time ?? 0;
}

/** E8. */
function unsafeOnce(lagging: Lagging, intent: Intent): void {
  const { lag, findings } = lagging;
  const { asked, trail, settled, askedAgainAt } = intent;
  if (asked.record.data.contract !== "unsafe" || !isTold(intent)) return;
  const calls = ofKey(lagging, intent).filter((row) => row.kind === "call" && row.at + lag >= asked.entry.time && row.at < askedAgainAt);
  const outcome = settled?.record.data.outcome;
  const freed = outcome === "failed" || outcome === "did_not_happen";
  const again = calls.slice(1).filter((row) => !freed || !settled || row.at < settled.entry.time);
  if (again.length > 0) findings.add("E8", whereIs(trail, asked), `${asked.record.data.key} is called ${calls.length} times`);
}

/** E6: what a fencing target does or looks up goes by epochs that never fall. */
function epochsRise({ rows, findings }: Lagging, intents: readonly Intent[]): void {
  const fencing = new Set(intents.flatMap(({ asked }) => (asked.record.data.fences ? [asked.record.data.tool] : [])));
  const highest = new Map<string, number>();
  for (const row of rows) {
    if (!fencing.has(row.tool) || (row.kind !== "application" && row.kind !== "lookup")) continue;
    const name = `${row.session} ${row.tool}`;
    const before = highest.get(name) ?? 0;
    if (row.epoch < before) findings.add("E6", { sessionId: row.session }, `${row.tool} ${row.key}: ${row.kind} of epoch ${row.epoch} after ${before}`);
    highest.set(name, Math.max(before, row.epoch));
  }
}

/** P4: the proposed call of a checkpoint that was rejected or has expired. */
function refusedStays({ rows, trails, findings }: Lagging): void {
  for (const { session } of trails.values()) {
    const dead = [...session.checkpoints.values()].filter(({ decision }) => decision === "REJECT" || decision === "EXPIRED");
    for (const { id, action, decision, decidedAt } of dead) {
      const { tool, argsDigest } = (action ?? {}) as { readonly tool?: unknown; readonly argsDigest?: unknown };
      const allowed = [...session.checkpoints.values()].some((one) => one.usedBy !== null && (one.approved as typeof action as { argsDigest?: unknown } | null)?.argsDigest === argsDigest);
      const applied = allowed ? [] : rows.filter((row) =>
        row.kind === "application" && row.session === session.id && row.tool === tool && row.argsDigest === argsDigest && row.at > (decidedAt ?? 0));
      if (applied.length > 0) findings.add("P4", { sessionId: session.id }, `${applied[0]?.key} is applied after ${id}: ${decision}`);
    }
  }
}
