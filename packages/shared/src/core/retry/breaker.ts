/**
 * The breaker, from the record: does the loop still get anywhere?
 * The same failure k times in a row, or A/B/A/B, hands off; a falling `evidence.remaining` or a new failure goes on.
 */
import type { Json } from "../json.ts";

/** How many fingerprints are kept. */
const windowMax = 8;

export interface Judged {
  readonly window: readonly string[];
  readonly trips: boolean;
}

export function judge(window: readonly string[], fingerprint: string, rule: { same: number | null; improving: boolean }): Judged {
  const next = rule.improving ? [fingerprint] : [...window, fingerprint].slice(-kept(rule.same));
  if (rule.same === null) return { window: next, trips: false };
  const tail = next.slice(-rule.same);
  const same = tail.length === rule.same && tail.every((one) => one === fingerprint);
  return { window: next, trips: same || alternates(next) };
}

function kept(same: number | null): number {
  return same !== null && same > windowMax ? same : windowMax;
}

function alternates(window: readonly string[]): boolean {
  const [a, b, c, d] = window.slice(-4);
  return d !== undefined && a === c && b === d && a !== b;
}

/** `evidence.remaining`, where a check counts what is left. */
export function remainingIn(evidence: Json): number | null {
  if (evidence === null || typeof evidence !== "object" || Array.isArray(evidence)) return null;
  const remaining = (evidence as { readonly [key: string]: Json })["remaining"];
  return typeof remaining === "number" ? remaining : null;
}
