/** What a maker is told, made from the fold alone: the same state gives the same input, on any process. Pure. */
import type { JsonObject } from "@loopledger/shared/core/json";
import type { Settled } from "@loopledger/shared/core/effects/handling";
import { own } from "@loopledger/shared/core/session/persistent-map";
import type { OpenDispatch, SessionState } from "@loopledger/shared/core/session/state";

export function makerInput(state: SessionState, open: OpenDispatch): JsonObject {
  const goal = state.submission?.goal;
  const settled = settledOf(state, open.leaf);
  const again = open.attempts > 1 || settled.length > 0;
  return {
    sessionId: state.sessionId, iteration: open.iteration, leaf: open.leaf, task: open.task, goal: goal?.goal ?? "",
    inputs: goal?.inputs ?? {}, context: { guidance: [...state.guidance], lastBuilt: state.lastBuilt?.summary ?? null },
    previousVerdict: state.lastCheck && {
      verdict: state.lastCheck.verdict, next_steps: [...state.lastCheck.next_steps], evidence: state.lastCheck.evidence, revision: state.lastCheck.revision,
    },
    epoch: state.epoch, attempt: open.attempts,
    ...(again && { settled: settled.map(({ tool, key, args, result }) => ({ tool, key, args, result })) }),
    ...((again || state.failures.last !== null) && { previousFailure: open.lastError ?? state.failures.last }),
  } as unknown as JsonObject;
}

/** What this leaf has settled since its last accepted build, over all dispatches. */
export function settledOf(state: SessionState, leaf: string): readonly Settled[] {
  return own(state.work, leaf)?.settled ?? [];
}

/** The key of a maker that is an effect itself, and what it is handed as its idempotency key. */
export function makerKey(state: SessionState, open: OpenDispatch): string {
  return `maker:${state.sessionId}:${open.leaf}:${open.iteration}`;
}
