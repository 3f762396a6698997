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

export async function runFunction(call: (signal: AbortSignal) => unknown, limits: Limits): Promise<Settled> {
  if (limits.signal.aborted) return { kind: "stopped" };
  const own = new AbortController();
  let why: "timeout" | "stopped" | null = null;
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  let grace: NodeJS.Timeout | undefined;
  const tell = (reason: "timeout" | "stopped") => {
    if (why !== null) return;
    why = reason;
    own.abort(new Error(reason === "timeout" ? "its time is over" : "told to stop"));
    grace = setTimeout(giveUp, (limits.graceSeconds ?? 5) * 1000);
  };
  const onAbort = () => tell("stopped");
  limits.signal.addEventListener("abort", onAbort, { once: true });
  const timer = longTimeout(limits.timeoutSeconds * 1000, () => tell("timeout"));
  const run = (async (): Promise<Settled> => ({ kind: "returned", value: await call(own.signal) }))()
    .catch((error: unknown): Settled => ({ kind: "threw", error }));
  const settled = await Promise.race([run, givenUp.then(() => null)]);
  clearTimeout(timer);
  clearTimeout(grace);
  limits.signal.removeEventListener("abort", onAbort);
  if (why !== null && !(limits.keepLate && settled?.kind === "returned")) return { kind: why };
  return settled ?? { kind: "stopped" };
}

/** A timer's longest delay is 2^31 - 1 ms; what is longer is as good as no limit. */
export function longTimeout(delayMs: number, call: () => void): NodeJS.Timeout | undefined {
  return delayMs > 2_147_483_647 ? undefined : setTimeout(call, delayMs);
}
