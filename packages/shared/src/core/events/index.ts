/** The closed catalogue of events. A type that is not here is unknown, and holds its session. */
import type { z } from "zod";
import { approvalDecided } from "./approval-decided.ts";
import { approvalRequested } from "./approval-requested.ts";
import { budgetRaised } from "./budget-raised.ts";
import { built } from "./built.ts";
import { cancelRequested } from "./cancel-requested.ts";
import { check } from "./check.ts";
import { checkpointRequested } from "./checkpoint-requested.ts";
import { childClosed } from "./child-closed.ts";
import { childOpened } from "./child-opened.ts";
import { childRefused } from "./child-refused.ts";
import { claimed } from "./claimed.ts";
import { compaction } from "./compaction.ts";
import { cycleFailed } from "./cycle-failed.ts";
import { dispatched } from "./dispatched.ts";
import { error } from "./error.ts";
import { goalSubmitted } from "./goal-submitted.ts";
import { grounding } from "./grounding.ts";
import { guidance } from "./guidance.ts";
import { handedBack } from "./handed-back.ts";
import { learning } from "./learning.ts";
import { ledgerInitialised } from "./ledger-initialised.ts";
import { model } from "./model.ts";
import { pauseRequested } from "./pause-requested.ts";
import { receipt } from "./receipt.ts";
import { reconciled } from "./reconciled.ts";
import { reserved } from "./reserved.ts";
import { resumed } from "./resumed.ts";
import { retry } from "./retry.ts";
import { rulesRaised } from "./rules-raised.ts";
import { status } from "./status.ts";
import { step } from "./step.ts";
import { tick } from "./tick.ts";
import { timerFired } from "./timer-fired.ts";
import { toolRequested } from "./tool-requested.ts";
import { toolResult } from "./tool-result.ts";

export const catalogue = {
  ledger_initialised: ledgerInitialised, goal_submitted: goalSubmitted, dispatched, claimed, grounding, model,
  tool_requested: toolRequested, tool_result: toolResult, reconciled, step, built, cycle_failed: cycleFailed,
  handed_back: handedBack, reserved, check, retry, compaction, approval_requested: approvalRequested,
  approval_decided: approvalDecided, learning, error, tick, timer_fired: timerFired, cancel_requested: cancelRequested,
  pause_requested: pauseRequested, checkpoint_requested: checkpointRequested, rules_raised: rulesRaised, resumed,
  guidance, budget_raised: budgetRaised, child_opened: childOpened, child_refused: childRefused,
  child_closed: childClosed, receipt, status,
} as const;

export type EventType = keyof typeof catalogue;
type Latest<D> = D extends { readonly versions: readonly [...z.ZodType[], infer S extends z.ZodType] } ? z.infer<S> : never;
/** The data of one event type, in its latest version. */
export type DataOf<T extends EventType> = Latest<(typeof catalogue)[T]>;
export const eventTypes = Object.keys(catalogue) as EventType[];
