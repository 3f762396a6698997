/** From how a check ended to the record that says so. Pure. */
import type { CheckRun } from "@loopledger/shared/core/effects/handling";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { NextStep } from "@loopledger/shared/core/events/check";
import type { Json } from "@loopledger/shared/core/json";
import type { Digest } from "@loopledger/shared/core/brand";
import type { OpenDispatch, SessionState } from "@loopledger/shared/core/session/state";
import type { Draft } from "@loopledger/shared/runtime";

export interface Examined {
  readonly run: CheckRun;
  readonly evidence: Json;
  readonly check: string;
  readonly pin: { readonly digest: Digest; readonly pinned: readonly string[] };
  /** Of what was checked: named by the handler, else made from the workspace, else the build's. */
  readonly revision: string | null;
  /** The revision moved while the check ran, also when it ran again. */
  readonly moved: boolean;
}

/** At iteration 0 a check that cannot even start counts as red, unless the policy asks for a strict red. */
function countsAsRed(state: SessionState, run: CheckRun): boolean {
  return run.cannotStart && state.failureFirst === "owed" && state.submission?.bounds.failureFirst !== "strict";
}

export function checkDraft(state: SessionState, open: OpenDispatch, at: Examined & { readonly actor: Actor }): Draft {
  const red = countsAsRed(state, at.run);
  const verdict = red ? "FAIL" : at.moved || at.run.verdict === "STOPPED" ? "INCONCLUSIVE" : at.run.verdict;
  const next_steps = red ? [open.task] : ([...at.run.nextSteps] as NextStep[]);
  const data = {
    check: at.check, verdict, evidence: at.moved ? { moved: true, note: "the workspace changed while the check ran", evidence: at.evidence } : at.evidence,
    revision: at.revision, next_steps: verdict === "INCONCLUSIVE" ? [] : next_steps, checkDigest: at.pin.digest, pinned: [...at.pin.pinned],
    usage: at.run.usage, ...(at.run.fingerprint !== undefined && { fingerprint: at.run.fingerprint }),
    ...(at.run.citations && { citations: [...at.run.citations] }), ...(at.run.log && { log: at.run.log }),
  };
  return { type: "check", data, actor: at.actor };
}
