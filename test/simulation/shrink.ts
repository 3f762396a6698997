/**
 * The shortest plan that still fails in the same way: faults are taken out, in halves, then quarters, down to one at a time;
 * then sessions and what people do. Nothing is drawn anew, so what is left fails by itself.
 */
import { type Examined, brokenRows, examine } from "./examine.ts";
import type { Plan } from "./plan/plan.ts";
import type { Options } from "./world/simulate.ts";

/** Most runs that a shrinking takes. */
const runsMax = 400;

export async function shrink(plan: Plan, failed: Examined, options: Options = {}): Promise<Plan> {
  const rows = brokenRows(failed);
  let runs = 0;
  const fails = async (candidate: Plan): Promise<boolean> => {
    if (++runs > runsMax) return false;
    const examined = await examine(candidate, options);
    return examined.result !== "sound" && [...brokenRows(examined)].some((row) => rows.has(row));
  };
  const fewer = async (current: Plan): Promise<Plan> => {
    const faults = await without(current.faults, (left) => fails({ ...current, faults: left }));
    return { ...current, faults };
  };
  const first = await fewer(plan);
  const sessions = await without(first.sessions, async (left) => left.length > 0 && fails({ ...first, sessions: left }));
  const calm = await fewer({ ...first, sessions });
  const actless = { ...calm, sessions: calm.sessions.map((one) => ({ ...one, acts: [] })) };
  return (await fails(actless)) ? fewer(actless) : calm;
}

/** The fewest of these with which it still fails, by taking out ever smaller parts. */
async function without<T>(all: readonly T[], fails: (left: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let left = all;
  if (left.length > 0 && (await fails([]))) return [];
  for (let size = Math.ceil(left.length / 2); size >= 1; size = Math.floor(size / 2)) left = await withoutParts(left, { size, fails });
  // What could not be left out before may be idle now.
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    left = await withoutParts(left, { size: 1, fails });
  }
  return left;
}
async function withoutParts<T>(all: readonly T[], by: { readonly size: number; readonly fails: (left: readonly T[]) => Promise<boolean> }): Promise<readonly T[]> {
  let left = all;
  for (let at = 0; at < left.length; ) {
    const candidate = [...left.slice(0, at), ...left.slice(at + by.size)];
    if (await by.fails(candidate)) left = candidate;
    else at += by.size;
  }
  return left;
}
