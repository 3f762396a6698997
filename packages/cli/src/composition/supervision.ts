/** Keeps a role running: what it throws is logged, readiness goes red, and it is started again after a growing pause. */
import type { Clock } from "@loopledger/shared/ports";
import type { Log } from "@loopledger/shared/runtime";

export interface RunningRole {
  stop(): Promise<void>;
  /** Settles where the role ends by itself, with what ended it. */
  readonly failed?: Promise<unknown>;
}
export interface Supervised {
  readonly name: string;
  /** True while it runs. */
  ready(): boolean;
  stop(): Promise<void>;
}

const pauseMsMin = 100;
const pauseMsMax = 5_000;

/** The first start is the caller's: it throws where the role cannot start at all. */
export async function supervise(name: string, start: () => Promise<RunningRole>, { clock, log }: { readonly clock: Clock; readonly log: Log }): Promise<Supervised> {
  let running: RunningRole | null = await start();
  let stopped = false;
  let tries = 0;
  let cancel = (): void => undefined;
  const again = (): void => {
    if (stopped) return;
    const pauseMs = Math.min(pauseMsMax, pauseMsMin * 2 ** tries++);
    cancel = clock.after(pauseMs, () => {
      start().then(watch, fell);
    });
  };
  const fell = (error: unknown): void => {
    running = null;
    log.error({ err: error, role: name }, "a role failed; it is started again");
    again();
  };
  const watch = (role: RunningRole): void => {
    running = role;
    if (stopped) void role.stop();
    role.failed?.then(fell, fell);
  };
  watch(running);
  return {
    name,
    ready: () => running !== null,
    stop: async () => {
      stopped = true;
      cancel();
      await running?.stop();
    },
  };
}
