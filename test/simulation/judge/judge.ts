/** The verdict on a run: sound, broken in named ways, or out of patience; the last is neither of the others. */
import type { Run } from "../world/simulate.ts";
import { auditOf } from "./audited.ts";
import { judgeIntended, judgeOnce } from "./effects.ts";
import { judgeEnd, judgeReceipt } from "./ends.ts";
import { judgeTogether } from "./together.ts";
import type { Say, Violation } from "./violation.ts";

export interface Verdict {
  readonly result: "sound" | "broken" | "timeout";
  readonly violations: readonly Violation[];
  /** What the audit saw of what a run should show. */
  readonly seen: ReadonlyMap<string, number>;
}
/** Most entries with one event id: more is somebody who writes the same again and again. */
const repeatsMax = 40;
/** Most void records of one session; contention and faults make a few, a loop without end makes hundreds. */
const voidsMax = 150;

export async function judge(run: Run): Promise<Verdict> {
  const report = await auditOf(run);
  const violations: Violation[] = report.violations.map(({ id, sessionId, partition, offset, detail }) => ({ id, session: sessionId, detail: `${detail} (${partition}/${offset})` }));
  for (const { id } of run.plan.sessions) violations.push(...judgeSession(run, id));
  for (const { session, what } of run.strays) violations.push({ id: "D4", session, detail: `${what} is in no plan` });
  for (const complaint of run.complaints) violations.push({ id: "X2", session: null, detail: complaint });
  const seen = new Map(report.coverage.map(({ name, count }) => [name, count]));
  const timeout = run.restless.length > 0 || run.ranAway;
  if (violations.length > 0) return { result: "broken", violations, seen };
  return { result: timeout ? "timeout" : "sound", violations: run.restless.map((session) => ({ id: "X2", session, detail: "it neither ended nor waits for a named thing" })), seen };
}

function judgeSession(run: Run, session: string): Violation[] {
  const found: Violation[] = [];
  const say: Say = (id, detail) => void found.push({ id, session, detail });
  const plan = run.plan.sessions.find(({ id }) => id === session);
  const rows = run.observer.rows(session);
  const effects = run.effects.filter((row) => row.session === session);
  judgeOnce(effects, say);
  judgeReceipt(run.observer.state(session), run.seen.filter((one) => one.session === session), say);
  judgeTogether(rows, say);
  floods(rows, say);
  if (plan && !run.restless.includes(session) && judgeEnd(plan, rows, say)) judgeIntended(plan, effects, say);
  return found;
}

/** Nobody writes without end what changes nothing. */
function floods(rows: ReturnType<Run["observer"]["rows"]>, say: Say): void {
  const repeats = new Map<string, number>();
  let voids = 0;
  for (const { record, verdict } of rows) {
    if (verdict.kind !== "void") continue;
    voids += 1;
    if (record) repeats.set(record.eventId, (repeats.get(record.eventId) ?? 0) + 1);
  }
  const worst = Math.max(0, ...repeats.values());
  if (worst > repeatsMax) say("X2", `one record is written ${worst} times in vain`);
  else if (voids > voidsMax) say("X2", `${voids} records are written in vain`);
}
