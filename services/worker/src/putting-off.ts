/**
 * Calls that a target put off: it has proved that nothing happened (429, 408, no connection, exit 75), so that the same call is made again
 * under its key, after the time that it asked for or the policy's backoff.
 *
 * R1. Each try stands on the ledger as a `retry`, whose timer is durable; none is made after the policy's attempts are used up.
 * R2. Calls that are put off at the same time wait for one another: one retry is armed at a time.
 * R3. A short wait is sat out, with the maker alive; for a long one the maker is told to leave, and runs again when the timer is due.
 */
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { cutText } from "@loopledger/shared/core/json";
import type { Tool } from "@loopledger/shared/ports";
import type { Engine, Tenure } from "@loopledger/shared/runtime";
import { retryDelay } from "./outcome.ts";

export interface PutOff {
  readonly why: string;
  readonly retryAfterSeconds?: number | undefined;
}
export interface Waiting {
  /** Longest time that is sat out, in seconds. */
  readonly secondsMax: number;
  /** Aborted when the run has to stop: what is armed stays armed. */
  readonly signal: AbortSignal;
}
export const sitsOut: Waiting = { secondsMax: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** `again`: the time is over. `leave`: it is too long to be sat out. `used_up`: the policy allows no further try. */
export async function putOff(engine: Engine, tenure: Tenure, asked: { readonly tool: Tool; readonly by: PutOff; readonly actor: Actor; readonly waiting: Waiting }): Promise<"again" | "leave" | "used_up"> {
  const { tool, by, actor, waiting } = asked;
  await tenure.untilRetryIsOver(waiting.signal);
  const attempt = (tenure.state.open?.retries ?? 0) + 1;
  if (attempt > (tenure.state.submission?.bounds.retryAttempts ?? 0)) return "used_up";
  const delay_seconds = retryDelay(attempt, { asked: by.retryAfterSeconds, random: engine.ids.random() });
  const data = { type: "tool", operation: tool.name, attempt, delay_seconds, error: cutText(by.why, 8192), errorClass: "transient" } as const;
  await tenure.append([{ type: "retry", data, actor }]);
  if (delay_seconds > waiting.secondsMax) return "leave";
  await tenure.untilRetryIsOver(waiting.signal);
  return "again";
}
