/**
 * Failpoints with real processes on Kafka and Redis. Of the whole table, which runs on SQLite, these are the rows that depend on how
 * an append, its read-back and the lease behave: one on each side of every kind of append, and each way in which an effect is promised.
 */
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import { doorOf, faults } from "../support/worlds/fault-plan.ts";
import { faultMatrix } from "./fault-matrix.ts";

const points: ReadonlySet<string> = new Set([
  "worker.after_read", "worker.after_lease", "worker.after_claim_append", "worker.before_built", "worker.after_built_append", "worker.before_release",
  "checker.after_claim_append", "checker.after_check_append", "checker.after_receipt_append", "scheduler.before_dispatch", "scheduler.after_dispatch_append",
  "intake.before_append", "intake.after_append",
]);
/** An intent that was sent, and a call whose outcome nobody wrote down: through every door. */
const effectPoints: ReadonlySet<string> = new Set(["worker.after_intent_append", "worker.after_effect"]);

const chosen = faults.filter((fault) => effectPoints.has(fault.point) || (points.has(fault.point) && doorOf(fault) === "idempotent"));
faultMatrix({ where: " on Kafka and Redis", faults: chosen, makeGrounds: () => distributedGrounds("kills") });
