/** Waiting for a session: its next change, and the moment when its running cycle has to stop. */
import type { SessionId } from "../core/brand.ts";
import type { SessionState } from "../core/session/state.ts";
import type { Engine } from "./engine.ts";

export interface ChangeLimits {
  readonly maxMs: number;
  /** Left out: nobody ends the wait before its time. */
  readonly signal?: AbortSignal | undefined;
  /** The state that the caller has judged: where there is another one by now, that is the change. */
  readonly since?: SessionState;
  /** The change that is waited for; left out: any. */
  readonly until?: (state: SessionState) => boolean;
}

/** Resolves at the session's next change, after `maxMs`, or when `signal` aborts. */
export function nextChange(engine: Engine, sessionId: SessionId, limits: ChangeLimits): Promise<void> {
  const isLate = limits.since !== undefined && engine.folds.peek(sessionId) !== limits.since;
  if (limits.signal?.aborted || isLate) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      stopListening();
      stopTimer();
      limits.signal?.removeEventListener("abort", done);
      resolve();
    };
    const { until } = limits;
    const judge = (state: SessionState): void => {
      if (!until || until(state)) done();
    };
    const stopListening = engine.folds.follow(sessionId, (change) => judge(change.state), "changes");
    const stopTimer = engine.supervision.part("changes").after(limits.maxMs, done, sessionId);
    limits.signal?.addEventListener("abort", done, { once: true });
  });
}

/** What is watched of a tenure. */
export interface Held {
  readonly sessionId: SessionId;
  holds(state: SessionState): boolean;
}

/** Why a running maker or check is told to stop. */
export type StopReason = "stale" | "ended" | "cancelled" | "paused" | "stopping";

export interface Watch {
  readonly signal: AbortSignal;
  reason(): StopReason | null;
  close(): void;
}

export interface WatchOptions {
  /** Of the process. */
  readonly stopping: AbortSignal;
  /** Called once, when the signal aborts. */
  readonly told?: () => void;
}

/** A signal for one running cycle: aborted when the fold names another owner, ends the session or pauses it at once, or when the process stops. */
export function watchTenure(engine: Engine, tenure: Held, { stopping, told }: WatchOptions): Watch {
  const controller = new AbortController();
  const stop = (reason: StopReason): void => {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    told?.();
  };
  const judge = (state: SessionState): void => {
    const reason = stopReason(tenure, state);
    if (reason) stop(reason);
  };
  const onStopping = (): void => stop("stopping");
  const stopListening = engine.folds.follow(tenure.sessionId, (change) => judge(change.state), "cycles.watch");
  stopping.addEventListener("abort", onStopping, { once: true });
  if (stopping.aborted) stop("stopping");
  return {
    signal: controller.signal,
    reason: () => (controller.signal.aborted ? (controller.signal.reason as StopReason) : null),
    close() {
      stopListening();
      stopping.removeEventListener("abort", onStopping);
    },
  };
}

function stopReason(tenure: Held, state: SessionState): StopReason | null {
  if (state.end) return "ended";
  if (!tenure.holds(state)) return "stale";
  if (state.cancel) return "cancelled";
  return state.pause?.now ? "paused" : null;
}
