/** Records that belong together reach the log together: the verdict that owes a receipt, and the receipt. */
import { nextDerived } from "@loopledger/shared/core/session/derive";
import type { Row } from "../world/observer.ts";
import type { Say } from "./violation.ts";

/** Longest time that a batch may have been under way: what was decided meanwhile its author could not know. */
const underWayMs = 12_000;

export function judgeTogether(rows: readonly Row[], say: Say): void {
  let actedAt = Number.NEGATIVE_INFINITY;
  for (const [index, { record, verdict, after, entry }] of rows.entries()) {
    if (verdict.kind !== "accepted" || !record) continue;
    if (record.actor.kind === "human" && record.type !== "goal_submitted") actedAt = entry.time;
    const owed = nextDerived(after);
    if (record.type !== "check" || owed?.type !== "receipt" || entry.time - actedAt <= underWayMs) continue;
    const next = rows[index + 1];
    if (next?.record?.eventId !== owed.eventId || next.entry.time !== entry.time) say("C1", `the verdict at ${entry.offset} came without its receipt`);
  }
}
