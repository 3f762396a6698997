/**
 * Calls that a target put off: it has proved that nothing happened (429, 408, no connection, exit 75), so that the same call is made again
 * under its key, after the time that it asked for or the policy's backoff.
 *
 * R1. Each wait stands on the ledger as a `retry`, whose timer is durable; none is begun after the policy's attempts are used up.
 * R2. One retry is armed at a time. Calls of one run that are put off while it waits, or before it began to, share it: when it is over they
 *     are made again, but for those whose target asked for longer.
 * R3. A short wait is sat out, with the maker alive; for a long one the maker is told to leave, and runs again when the timer is due.
 */
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { cutText } from "@loopledger/shared/core/json";
import { armedRetry, waitsForRetry } from "@loopledger/shared/core/session/rules/cycles";
import type { Timer } from "@loopledger/shared/core/session/state";
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
  readonly signal?: AbortSignal | undefined;
}
export const sitsOut: Waiting = { secondsMax: Number.POSITIVE_INFINITY };

interface Asked {
  readonly tool: Tool;
  readonly by: PutOff;
  readonly actor: Actor;
  readonly waiting: Waiting;
}
/** The arming of a retry, by tenure: whoever comes meanwhile sees what became of it before it arms one of its own. */
const arming = new WeakMap<Tenure, Promise<unknown>>();

/** `again`: the time is over. `leave`: it is too long to be sat out. `used_up`: the policy allows no further try. */
export async function putOff(engine: Engine, tenure: Tenure, asked: Asked): Promise<"again" | "leave" | "used_up"> {
  const { secondsMax, signal } = asked.waiting;
  const from = engine.clock.monotonic();
  const leftSeconds = (): number => (asked.by.retryAfterSeconds ?? 0) - (engine.clock.monotonic() - from) / 1000;
  const before = retriesOf(tenure) - (waitsForRetry(tenure.state) ? 1 : 0);
  for (;;) {
    const armed = armedRetry(tenure.state) ?? (await armNext(engine, tenure, { ...asked, before, leftSeconds }));
    if (typeof armed === "string") return armed;
    if (armed.dueAt - engine.logClock.now() > secondsMax * 1000) return "leave";
    await tenure.untilRetryIsOver(signal);
  }
}

/** Arms the next retry, unless one was over since the call was put off and nothing more was asked for; one call after the other. */
function armNext(engine: Engine, tenure: Tenure, call: Asked & { readonly before: number; readonly leftSeconds: () => number }): Promise<Timer | "again" | "used_up"> {
  const turn = (arming.get(tenure) ?? Promise.resolve()).then(async () => {
    const armed = armedRetry(tenure.state);
    if (armed) return armed;
    const hasWaited = retriesOf(tenure) > call.before;
    const asksFor = call.leftSeconds();
    if (hasWaited && asksFor <= 0) return "again";
    const attempt = retriesOf(tenure) + 1;
    if (attempt > (tenure.state.submission?.bounds.retryAttempts ?? 0)) return "used_up";
    const asked = hasWaited ? Math.ceil(asksFor * 1000) / 1000 : call.by.retryAfterSeconds;
    const delay_seconds = retryDelay(attempt, { asked, random: engine.ids.random() });
    const data = { type: "tool", operation: call.tool.name, attempt, delay_seconds, error: cutText(call.by.why, 8192), errorClass: "transient" } as const;
    await tenure.append([{ type: "retry", data, actor: call.actor }]);
    return armedRetry(tenure.state) ?? "again";
  });
  arming.set(tenure, turn.catch(() => undefined));
  return turn;
}
function retriesOf({ state }: Tenure): number {
  return state.open?.retries ?? 0;
}
