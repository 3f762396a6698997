/** Where sessions stand when the run is over, and how parents and children fit together. */
import type { Session } from "../fold/session.ts";
import { callsForSomething, standing } from "../fold/view.ts";
import { goalDigest } from "../fold/hashing.ts";
import type { Trail } from "../trail.ts";
import { type Check, type Looking, whereIs } from "./looking.ts";

const withinDefaultMs = 60_000;

/** D3 and X2: only where the run says which faults there were or how sessions should end; a ledger in use is never at rest. */
export const atRest: Check = (looking) => {
  const { inputs, trails, findings } = looking;
  const expected = new Map((inputs.expected ?? []).flatMap((row) => (row.kind === "session" ? [[row.sessionId, row] as const] : [])));
  if (inputs.faults === undefined && expected.size === 0) return;
  for (const { session } of trails.values()) late(looking, session);
  for (const row of expected.values()) {
    const session = trails.get(row.sessionId)?.session;
    const { disposition, reason } = session ? standing(session) : { disposition: "unknown", reason: null };
    if (row.ends !== undefined && row.ends !== disposition) findings.add("X2", { sessionId: row.sessionId }, `expected to end ${row.ends}, is ${disposition}${reason === null ? "" : ` (${reason})`}`);
  }
};

function late({ inputs, options, findings, endedAt }: Looking, session: Session): void {
  const calm = Math.max(0, ...(inputs.faults ?? []).map((fault) => fault.until ?? fault.at ?? 0));
  const isLate = (since: number): boolean => Math.max(calm, since) + (options.withinMs ?? withinDefaultMs) < endedAt;
  const at = { sessionId: session.id, partition: session.home, offset: session.offset };
  if (callsForSomething(session)) {
    const owed = session.report ?? session.request ?? session.owed;
    if (owed && isLate(owed.since)) findings.add("D3", at, `${owed.what} is called for by ${owed.cause} and does not come`);
    return;
  }
  const { disposition, reason } = standing(session);
  const overdue = session.end === null && session.timers.some((timer) => isLate(timer.dueAt));
  const idle = disposition === "running" && session.submission !== null && isLate(session.at ?? 0);
  if (overdue) findings.add("X2", at, "a timer is due and does not fire");
  else if (idle) findings.add("X2", at, `${session.open ? `the open ${session.open.cycle} does not go on` : "it waits for nothing"}, ${disposition} (${reason ?? "no reason"})`);
}

/** B3: depth as the parent carved it, and what a family has spent together. */
export const families: Check = ({ trails, findings }) => {
  for (const trail of trails.values()) {
    const { session } = trail;
    const parent = session.submission?.parent;
    const submitted = trail.accepted[0];
    if (parent && submitted) {
      const opened = openingOf(trails.get(parent.sessionId), session.id);
      const fits = opened !== null && opened.depth === parent.depth && opened.goalDigest === goalDigest(session.submission?.goal ?? {});
      if (trails.has(parent.sessionId) && !fits) findings.add("B3", whereIs(trail, submitted), `${parent.sessionId} has opened no such child`);
    }
    const limit = session.purse.limit("costUsd");
    const total = familyCost(session, trails);
    if (limit !== null && session.children.size > 0 && total > limit + 1e-9) findings.add("B3", { sessionId: session.id }, `the family has spent ${total} of ${limit} USD`);
  }
};

function openingOf(parent: Trail | undefined, child: string): { readonly depth: number; readonly goalDigest: string } | null {
  for (const { record } of parent?.accepted ?? []) if (record.type === "child_opened" && record.data.child === child) return record.data;
  return null;
}
/** A closed child's spending is in its parent's books already. */
function familyCost(session: Session, trails: ReadonlyMap<string, Trail>): number {
  let cost = session.purse.costUsd;
  for (const child of session.children.values()) {
    const found = trails.get(child.id)?.session;
    if (child.open && found) cost += familyCost(found, trails);
  }
  return cost;
}
