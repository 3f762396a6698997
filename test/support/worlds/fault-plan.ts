/** Where processes are killed, stopped and made to throw: every failpoint of the roles, and each way in which an effect is promised. */
import type { FailpointName } from "@loopledger/shared/runtime";
import type { GoalGiven } from "./processes.ts";
import { type Door, doors } from "./target.ts";

export interface Fault {
  /** The number in the catalogue of faults, and what it is about. */
  readonly title: string;
  readonly point: FailpointName;
  readonly nth: number;
  readonly goal: GoalGiven;
  /** At the fault the effect had happened, had not, or was settled on the ledger. */
  readonly effect: "none" | "happened" | "settled";
  /** Somebody else submits: the process finds the goal and its first dispatch in the ledger. */
  readonly isSubmitted: boolean;
  /** A process that was stopped here and wakes after a takeover writes something: what. */
  readonly late: string | null;
}
type Row = readonly [title: string, point: FailpointName, late: string | null, more?: { readonly nth?: number; readonly failureFirst?: boolean; readonly isSubmitted?: boolean }];

const steps: readonly Row[] = [
  ["F1 after it has read, before the lease", "worker.after_read", null],
  ["F2 after the lease, before the claim", "worker.after_lease", null],
  ["F3 after the claim is sent", "worker.after_claim_append", null, { failureFirst: false }],
  ["F4 after the claim is read back", "worker.after_claim_readback", "step", { failureFirst: false }],
  ["F5 before the intent", "worker.before_intent", "tool_requested"],
  ["F9 before the build is recorded", "worker.before_built", "built"],
  ["F9 after the build is recorded", "worker.after_built_append", null],
  ["F10 before the lease is released", "worker.before_release", null],
  ["F13 before the first dispatch", "scheduler.before_dispatch", "dispatched"],
  ["F13 before the dispatch that a check calls for", "scheduler.before_dispatch", "dispatched", { isSubmitted: true }],
  ["F14 after the dispatch that a check calls for", "scheduler.after_dispatch_append", null, { isSubmitted: true }],
  ["F16 after a checker's claim", "checker.after_claim_append", null],
  ["F16 before the first verdict", "checker.before_check", "check"],
  ["F16 before the last verdict", "checker.before_check", "check", { nth: 2 }],
  ["F16 between the last verdict and its receipt", "checker.after_check_append", null, { nth: 2 }],
  ["F16 before the receipt", "checker.before_receipt", "receipt"],
  ["F16 after the receipt", "checker.after_receipt_append", null],
  ["intake, before the goal is recorded", "intake.before_append", "goal_submitted"],
  ["intake, after the goal is recorded", "intake.after_append", null],
];
const effects: readonly [title: string, point: FailpointName, effect: Fault["effect"], late: string | null][] = [
  ["F5 after the intent is sent", "worker.after_intent_append", "none", null],
  ["F5 after the intent is read back", "worker.after_intent_readback", "none", null],
  ["F7 after the effect, before its outcome", "worker.after_effect", "happened", "tool_result"],
  ["F9 after the outcome", "worker.after_outcome_append", "settled", null],
];

export const faults: readonly Fault[] = [
  ...steps.map(([title, point, late, { nth = 1, failureFirst = true, isSubmitted = false } = {}]): Fault => ({
    title, point, nth, late, isSubmitted, effect: "settled", goal: { inputs: { door: "idempotent" }, policy: { failureFirst } },
  })),
  ...doors.flatMap((door) => effects.map(([title, point, effect, late]): Fault => ({
    title: `${title}, ${door}`, point, nth: 1, late, isSubmitted: false, effect, goal: { inputs: { door } },
  }))),
];
export function doorOf({ goal }: Fault): Door {
  return goal.inputs.door as Door;
}
/** After it nobody but a person can say what became of the effect. */
export function needsPerson(fault: Fault): boolean {
  return doorOf(fault) === "unsafe" && fault.effect !== "settled";
}
export function sessionOf({ point, nth, goal, isSubmitted }: Fault): string {
  return `${point}.${isSubmitted ? "found" : nth}.${goal.inputs.door}`;
}

/** Does a job for each, a few at a time. */
export async function eachInTurn<T>(all: readonly T[], width: number, job: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await job(one);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
