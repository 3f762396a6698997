/** How sessions stand when all is still, against what the generator computed; receipts against what the checks saw. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import type { SessionPlan } from "../plan/plan.ts";
import type { Row } from "../world/observer.ts";
import type { Seen } from "../world/workshop.ts";
import type { Say } from "./violation.ts";

/** True where the end is the expected one, so that what was meant has to be done. */
export function judgeEnd(plan: SessionPlan, rows: readonly Row[], say: Say): boolean {
  const state = rows.at(-1)?.after;
  if (!state?.submission) {
    say("X2", "it was submitted and is not there");
    return false;
  }
  const { disposition, reason } = standingOf(state);
  const is = `${disposition}/${reason}`;
  const accepted = rows.flatMap(({ record, verdict }) => (record && verdict.kind === "accepted" ? [record] : []));
  if (accepted.some(({ type }) => type === "cancel_requested")) {
    if (is !== "cancelled/cancelled") say("X1", `it was cancelled and is ${is}`);
    return false;
  }
  if (accepted.some((record) => record.type === "approval_decided" && record.data.decision === "REJECT")) {
    if (is !== "handed_off/approval_rejected") say("P4", `a call was rejected and it is ${is}`);
    return false;
  }
  const { expected } = plan;
  const asExpected = disposition === expected.disposition && reason === expected.reason;
  if (!asExpected) say("X2", `it is ${is}, expected ${expected.disposition}/${expected.reason}`);
  return asExpected;
}

/** C1: the receipt names a revision that a check saw green from its beginning to its end. */
export function judgeReceipt(state: SessionState, seen: readonly Seen[], say: Say): void {
  const { receipt } = state;
  if (!receipt) return;
  const green = seen.some((one) => one.verdict === "PASS" && one.before === one.after && one.after === receipt.revision);
  if (!green) say("C1", `the receipt names ${receipt.revision}, which no check saw green and still`);
}
