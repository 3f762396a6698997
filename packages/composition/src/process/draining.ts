/** Leaving in order: the first SIGINT, SIGTERM or SIGHUP drains within five seconds, the second leaves at once. */
import { messageOf } from "@loopledger/shared/core/errors";
import { setTimeout as pause } from "node:timers/promises";
import { exitCodes } from "../exit-codes.ts";
import { exitWith } from "./process-end.ts";

const drainMsMax = 4_800;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Draining {
  /** Aborted at the first signal. */
  readonly signal: AbortSignal;
  /** What is done before the process leaves; the last one that was given counts. */
  drainWith(stop: () => Promise<void>): void;
  /** From here on the first signal ends the process by itself again. */
  over(): void;
}
export interface DrainingOptions {
  /** The code to leave with after a signal. */
  readonly exitCode: number;
  /** Told once, at the first signal. */
  readonly told?: () => void;
}

export function drainOnSignals({ exitCode, told }: DrainingOptions): Draining {
  const controller = new AbortController();
  let stop = (): Promise<void> => Promise.resolve();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort();
    told?.();
    void drain(stop).then(() => exitWith(exitCode));
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    drainWith: (given) => {
      stop = given;
    },
    over: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/** What is not handed back in time is found by others: this process is then gone, and that is proof enough. */
async function drain(stop: () => Promise<void>): Promise<void> {
  const stopped = stop().catch((error: unknown) => {
    process.stderr.write(`loopledger: the orderly stop failed: ${messageOf(error)}\n`);
  });
  await Promise.race([stopped, pause(drainMsMax)]);
}
