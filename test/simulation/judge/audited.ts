/** Hands a run to the audit: the log with what the system made of each entry, the target's log, the views, the faults. */
import { type AuditInputs, type Report, audit } from "@loopledger/audit";
import { digestOf } from "@loopledger/shared/core/json";
import { createSeededIds } from "@loopledger/shared/memory";
import { world } from "../plan/plan.ts";
import type { Run } from "../world/simulate.ts";
import type { TargetRow } from "../world/target.ts";

const { sha256 } = createSeededIds("judge");

export async function auditOf(run: Run): Promise<Report> {
  return audit(await inputsOf(run), { withinMs: world.patienceMs / 2 });
}

async function inputsOf(run: Run): Promise<AuditInputs> {
  return {
    ledger: run.entries.map(({ partition, offset, time, key, value }) => ({ partition, offset, time, key, value, ...(value !== null && { text: value }) })),
    verdicts: run.plan.sessions.flatMap(({ id }) => run.observer.rows(id).map(({ entry, verdict }) => ({
      partition: entry.partition, offset: entry.offset, verdict: verdict.kind, ...(verdict.kind === "void" && { reason: verdict.reason }), ...(verdict.kind === "accepted" && { seq: verdict.seq }),
    }))),
    effects: run.effects.filter((row, at, all) => row.door !== "read" && !wasRefused(row, all[at + 1])).map(effectOf),
    views: [...run.writes.flatMap((written, at, all) => [...(written.life > (all[at - 1]?.life ?? 0) ? [{ kind: "rebuilt" as const, projection: "anew" }] : []), ...viewsOf(written)]), ...(await lastViews(run))],
  };
}

/** A call that the fence sent away is told of as such, and not as a call: it may come long after its effect was settled. */
function wasRefused(row: TargetRow, next: TargetRow | undefined): boolean {
  return row.kind === "call" && next?.kind === "refused" && next.key === row.key && next.epoch === row.epoch;
}

function effectOf({ kind, door, session, epoch, key, identity, args, at }: TargetRow): NonNullable<AuditInputs["effects"]>[number] {
  const byMaker = key.startsWith("maker:");
  return {
    kind: kind === "look" ? "lookup" : kind, tool: byMaker ? "maker:external" : door, key, session, epoch, at, action: identity,
    argsDigest: byMaker ? null : digestOf(args, sha256),
  };
}

/** What a projector wrote at a time; a store that was emptied begins anew. */
function viewsOf({ partition, to, views, life }: Run["writes"][number]): NonNullable<AuditInputs["views"]> {
  const projection = `main/${life}`;
  return [
    ...views.map(({ sessionId, document }) => ({ kind: "view" as const, sessionId, status: JSON.parse(document) as Record<string, unknown>, projection, partition, next: to })),
    { kind: "cursor", partition, next: to, projection },
  ];
}
/** How each session is shown when all is still. */
async function lastViews(run: Run): Promise<NonNullable<AuditInputs["views"]>> {
  const shown = run.plan.sessions.filter(({ id }) => run.observer.state(id).submission !== null);
  return Promise.all(shown.map(async ({ id }) => {
    const document = await run.views.get("main", id as never);
    return { kind: "view" as const, sessionId: id, status: (document === null ? {} : JSON.parse(document)) as Record<string, unknown>, projection: "last" };
  }));
}
