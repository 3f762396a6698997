/** When to come again, as a target or a maker says it: what is no time is ignored, and nobody is waited for without end. */
import { retryAfterSecondsMax } from "@loopledger/shared/core/effects/handling";

/** A number of seconds, capped; undefined where it is none or lies before now. */
export function waitOf(seconds: unknown): number | undefined {
  return typeof seconds === "number" && seconds >= 0 ? Math.min(seconds, retryAfterSecondsMax) : undefined;
}
/** Whole seconds until a time in milliseconds since 1970, capped; 0 where it is past. */
export function waitUntil(atMs: number, nowMs: number): number {
  return Math.min(retryAfterSecondsMax, Math.max(0, Math.ceil((atMs - nowMs) / 1000)));
}
