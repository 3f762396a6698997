/** Runs a function until it settles, its time is over or it is told to stop. A function cannot be killed: it is told by its signal, and after a grace it is left. */

export type Settled =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timeout" }
  | { readonly kind: "stopped" };

export interface Limits {
  readonly timeoutSeconds: number;
  /** Told to stop from outside. */
  readonly signal: AbortSignal;
  /** How long it may go on after it was told to stop. */
  readonly graceSeconds?: number;
  /** What comes after it was told to stop still counts: for effects, whose answer is a fact. */
  readonly keepLate?: boolean;
}

/** How a running function is told to stop. The signal is made when it is first asked for: most steps are over before they look at it. */
export class Told {
  #controller: AbortController | null = null;
  #why: Error | null = null;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#why) this.#controller.abort(this.#why);
    return this.#controller.signal;
  }
  stop(why: Error): void {
    this.#why = why;
    this.#controller?.abort(why);
  }
}

export function runFunction(call: (told: Told) => unknown, limits: Limits): Promise<Settled> {
  if (limits.signal.aborted) return Promise.resolve({ kind: "stopped" });
  return new Promise((settle) => {
    const told = new Told();
    let why: "timeout" | "stopped" | null = null;
    let grace: NodeJS.Timeout | undefined;
    const over = (settled: Settled): void => {
      clearTimeout(timer);
      clearTimeout(grace);
      limits.signal.removeEventListener("abort", onAbort);
      settle(why !== null && !(limits.keepLate && settled.kind === "returned") ? { kind: why } : settled);
    };
    const tell = (reason: "timeout" | "stopped"): void => {
      if (why !== null) return;
      why = reason;
      grace = setTimeout(() => over({ kind: reason }), (limits.graceSeconds ?? 5) * 1000);
      told.stop(new Error(reason === "timeout" ? "its time is over" : "told to stop"));
    };
    const onAbort = (): void => tell("stopped");
    const timer = longTimeout(limits.timeoutSeconds * 1000, () => tell("timeout"));
    limits.signal.addEventListener("abort", onAbort, { once: true });
    const threw = (error: unknown): void => over({ kind: "threw", error });
    try {
      Promise.resolve(call(told)).then((value) => over({ kind: "returned", value }), threw);
    } catch (error) {
      threw(error);
    }
  });
}

/** A timer's longest delay is 2^31 - 1 ms; what is longer is as good as no limit. */
export function longTimeout(delayMs: number, call: () => void): NodeJS.Timeout | undefined {
  return delayMs > 2_147_483_647 ? undefined : setTimeout(call, delayMs);
}
