/**
 * A process of a simulation: its own clock, and a gate through which everything from outside reaches it. While it is
 * paused the world goes on and its news wait at the gate, as for a process that was stopped; killed, it hears nothing more.
 */
import type { Clock } from "../../ports/index.ts";

export interface MemoryProcess {
  /** This process's view of time: its wall clock may be wrong, its timers wait while it is paused. */
  readonly clock: Clock;
  readonly state: "running" | "paused" | "killed";
  pause(): void;
  resume(): void;
  kill(): void;
  /** Moves the wall clock that this process sees; its monotonic clock is not touched. */
  skew(ms: number): void;
  /** Hands a call to the process: now, when it is resumed, or never. */
  enter(call: () => void): void;
}

export function createMemoryProcess(world: Clock): MemoryProcess {
  let state: MemoryProcess["state"] = "running";
  let skewMs = 0;
  let waiting: (() => void)[] = [];
  const enter = (call: () => void): void => {
    if (state === "running") call();
    else if (state === "paused") waiting.push(call);
  };
  const after = (delayMs: number, call: () => void): (() => void) => {
    let wanted = true;
    const cancel = world.after(delayMs, () => enter(() => {
      if (wanted) call();
    }));
    return () => {
      wanted = false;
      cancel();
    };
  };
  return {
    clock: { now: () => world.now() + skewMs, monotonic: world.monotonic, after },
    get state() {
      return state;
    },
    pause: () => {
      if (state === "running") state = "paused";
    },
    resume: () => {
      if (state !== "paused") return;
      state = "running";
      const calls = waiting;
      waiting = [];
      for (const call of calls) enter(call);
    },
    kill: () => {
      state = "killed";
      waiting = [];
    },
    skew: (ms) => {
      skewMs = ms;
    },
    enter,
  };
}

