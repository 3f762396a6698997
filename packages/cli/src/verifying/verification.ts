/**
 * Does a receipt still hold? Its check is executed again against the current state.
 *
 * `evidence_missing`: what the final check was kept with cannot be had any more. `stale`: the check, what it pins, or the revision
 * is another one now. `check_failed`: it ran and did not pass. Nothing is written to the ledger. Where the host is short of what the
 * check needs to run, as on a full disk, nothing is said of the receipt: that is an error.
 */
import type { CheckRun, CheckTask } from "@loopledger/shared/core/effects/handling";
import { budgetOf } from "@loopledger/shared/core/budget/budget";
import type { RecordOf } from "@loopledger/shared/core/events/envelope";
import { type Json, cutText } from "@loopledger/shared/core/json";
import { rootLeaf, type Receipt, type SessionState } from "@loopledger/shared/core/session/state";
import type { Blobs, Check } from "@loopledger/shared/ports";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { HeardSteps } from "./heard-steps.ts";

export type Reason = "stale" | "check_failed" | "evidence_missing";
export interface Verification {
  readonly holds: boolean;
  readonly reason: Reason | null;
  /** What was found, for people. */
  readonly detail: string;
  /** What can be done about it; null where it holds. */
  readonly next: string | null;
}
export interface Verifying {
  readonly state: SessionState;
  readonly receipt: Receipt;
  /** The record of the final check. */
  readonly final: RecordOf<"check">;
  readonly check: Check;
  readonly blobs: Blobs;
  /** What a check is told of the session. */
  readonly input: CheckTask["input"];
  readonly live: (chunk: Uint8Array) => void;
}

const no = (reason: Reason, detail: string, next: string): Verification => ({ holds: false, reason, detail, next });

export async function verify(verifying: Verifying): Promise<Verification> {
  const { receipt, check } = verifying;
  const missing = await missingPayload(verifying);
  if (missing !== null) return no("evidence_missing", `The final check at seq ${receipt.finalCheckSeq} was kept with the payload ${missing}, and it is missing or damaged.`, "Restore the folder or bucket of the payloads from a copy, and verify again.");
  const pin = await check.pin();
  if (pin.digest !== receipt.check.digest) {
    return no("stale", `The check ${check.name} or a file that it pins is another one than the receipt names: ${pin.pinned.join(", ") || "its definition"}.`, "Put back what is named and verify again; or have this check judge: submit the goal under a new id.");
  }
  const before = await check.revision();
  const ran = await runAgain(verifying);
  if (ran.fault !== null) return no("check_failed", ran.fault, `Submit the goal under a new id to have it mended: this session is done. \`loopledger events ${verifying.state.sessionId}\` shows how it was made.`);
  const after = await check.revision();
  const named = verifying.receipt.revision;
  // A revision that the check names itself takes the place of the workspace's, as it did when the receipt was made.
  const now = (ran.revision === null ? [before, after] : [ran.revision]).find((one) => one !== null && named !== null && one !== named);
  if (now !== undefined && now !== null) return no("stale", `The check passes, and the revision is another one: ${now}, not ${named}.`, "The work was changed after the receipt was made. Go back to the state that it names and verify again; or take the check's PASS for what it is, and submit what is still to be done as a goal of its own.");
  return { holds: true, reason: null, next: null, detail: `${check.name} passes${named === null ? "" : ` on ${named}`}.` };
}

/** Runs the check: the revision that it names, and, where it does not pass, what it said. */
async function runAgain({ state, receipt, check, input, live }: Verifying): Promise<{ readonly fault: string | null; readonly revision: string | null }> {
  const steps = new HeardSteps({ budget: budgetOf(state) as unknown as Json, seq: state.seq });
  const task: CheckTask = {
    sessionId: state.sessionId, dispatch: `verify-${receipt.seq}` as never, epoch: state.epoch, iteration: state.lastCheck?.iteration ?? state.iteration, leaf: rootLeaf,
    task: state.submission?.goal.goal ?? "", title: state.submission?.goal.goal ?? "", attempt: 1, input, steps, wallSecondsLeft: null,
  };
  const run = await check.run(task, { signal: new AbortController().signal, live });
  if (run.shortOf !== undefined) throw notJudged(check.name, run);
  return { fault: faultOf(run, steps.gaps), revision: run.revision };
}
/** The check was not run: nothing is known of the receipt, neither that it holds nor that it does not. */
function notJudged(name: string, { shortOf, evidence }: CheckRun): CliError {
  const { why } = evidence as { readonly why?: string };
  const isFull = shortOf === "ENOSPC" || shortOf === "EDQUOT";
  return new CliError(isFull ? "disk_full" : "check_unavailable", `Whether the receipt holds is not known: ${name} was not run (${why ?? shortOf}).`, {
    next: isFull ? "Free space where the data folder lies; the same command then runs it." : "Mend that; the same command then runs it.", exitCode: exitCodes.unreachable,
  });
}
function faultOf(run: CheckRun, gaps: readonly string[]): string | null {
  if (run.verdict === "PASS" && run.nextSteps.length === 0 && gaps.length === 0) return null;
  if (run.verdict === "PASS") return gaps.length > 0 ? `It passes on an observation that is not whole: ${gaps.join(", ")}.` : "It says PASS and names next steps.";
  const [next] = run.nextSteps;
  return `${run.verdict}${typeof next === "string" ? `: ${cutText(next, 400)}` : `: ${cutText(JSON.stringify(run.evidence), 400)}`}`;
}

/** The digest of a payload of the final check that cannot be had whole. */
async function missingPayload({ state, final, blobs }: Verifying): Promise<string | null> {
  for (const digest of blobsOf(final)) if ((await blobs.get(state.sessionId, digest as never)) === null) return digest;
  return null;
}
function blobsOf(final: RecordOf<"check">): string[] {
  const { evidence, log } = final.data;
  const kept = evidence !== null && typeof evidence === "object" && !Array.isArray(evidence) ? (evidence as { readonly [key: string]: Json })["blob"] : undefined;
  return [...(typeof kept === "string" ? [kept] : []), ...(log?.blob === undefined ? [] : [log.blob])];
}
