/** From how a maker ended to the records that say so. Pure. */
import { addUsage } from "@loopledger/shared/core/budget/usage";
import { type CycleEnd, retryAfterSecondsMax } from "@loopledger/shared/core/effects/handling";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import type { Usage } from "@loopledger/shared/core/events/fields";
import { cutText } from "@loopledger/shared/core/json";
import type { OpenDispatch } from "@loopledger/shared/core/session/state";
import type { Draft } from "@loopledger/shared/runtime";

export interface Ending {
  readonly open: OpenDispatch;
  readonly actor: Actor;
  readonly usage: Usage;
  readonly retryAttempts: number;
  /** In [0, 1): the jitter of a retry's delay. */
  readonly random: number;
}

/** Longest delay before a retry that the policy itself makes, in seconds. */
const delayMax = 60;

export function builtDraft(end: CycleEnd & { kind: "built" }, at: Ending): Draft {
  const { summary, revision, artifacts, citations, mutations } = end.result;
  const data = {
    summary: cutText(summary, 65_536), revision, usage: addUsage(at.usage, end.result.usage),
    ...(artifacts && { artifacts: [...artifacts] }), ...(citations && { citations: [...citations] }),
    ...(mutations && { mutations: { ...mutations } }), ...(end.log && { log: end.log }),
  };
  return { type: "built", data, actor: at.actor };
}

/** In seconds: what was asked for, up to a bound, else twice as long with every attempt, with jitter. */
export function retryDelay(attempt: number, { asked, random }: { readonly asked?: number | undefined; readonly random: number }): number {
  return asked === undefined ? backoff(attempt, random) : Math.min(asked, retryAfterSecondsMax);
}
function backoff(attempt: number, random: number): number {
  return Math.round(1000 * Math.min(delayMax, 2 ** (attempt - 1)) * (0.5 + random / 2)) / 1000;
}

/** Transient failures are put off with the dispatch open, until the attempts are used up; everything else closes the cycle. */
export function failedDraft(end: CycleEnd & { kind: "failed" }, at: Ending): Draft {
  const attempt = at.open.retries + 1;
  if (end.failure === "transient" && attempt <= at.retryAttempts) {
    const delay_seconds = retryDelay(attempt, { asked: end.retryAfterSeconds, random: at.random });
    const data = { type: "maker", operation: at.open.leaf, attempt, delay_seconds, error: cutText(end.message, 8192), errorClass: "transient" } as const;
    return { type: "retry", data, actor: at.actor };
  }
  const usedUp = end.failure === "transient";
  // What cannot be started now cannot be started at the next iteration either: a person mends it.
  const hopeless = end.code === "cannot_start";
  const data = {
    dispatch: at.open.eventId, class: end.failure, code: usedUp ? "retries_exhausted" : end.code, fingerprint: cutText(end.fingerprint, 256),
    terminal: usedUp || hopeless, message: cutText(end.message, 8192), usage: addUsage(at.usage, end.usage ?? {}), ...(end.log && { log: end.log }),
  };
  return { type: "cycle_failed", data, actor: at.actor };
}
