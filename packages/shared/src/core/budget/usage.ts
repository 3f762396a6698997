/** Spends that a cycle reported in several parts, as one. A sum that no record could hold stays at the most that one can. */
import type { Usage } from "../events/fields.ts";

export function addUsage(one: Usage, other: Usage): Usage {
  const add = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined && b === undefined ? undefined : Math.min((a ?? 0) + (b ?? 0), Number.MAX_SAFE_INTEGER));
  const model = other.model ?? one.model;
  const sums = { costUsd: add(one.costUsd, other.costUsd), tokensIn: add(one.tokensIn, other.tokensIn), tokensOut: add(one.tokensOut, other.tokensOut) };
  const reservation = other.reservation ?? one.reservation;
  return Object.fromEntries(Object.entries({ ...sums, model, reservation }).filter(([, value]) => value !== undefined)) as Usage;
}
