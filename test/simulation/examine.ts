/** One plan run and judged: all that a test or the command needs to know of it. */
import type { Fault, Plan } from "./plan/plan.ts";
import { type Verdict, judge } from "./judge/judge.ts";
import { type Options, simulate } from "./world/simulate.ts";

export interface Examined extends Verdict {
  readonly seed: number;
  readonly entries: number;
  readonly virtualMs: number;
  readonly fired: readonly Fault["kind"][];
}

export async function examine(plan: Plan, options: Options = {}): Promise<Examined> {
  const run = await simulate(plan, options);
  const verdict = await judge(run);
  return { ...verdict, seed: plan.seed, entries: run.entries.length, virtualMs: run.virtualMs, fired: run.fired.map(({ kind }) => kind) };
}

/** The rows of the audit that a verdict breaks; a run that never came to rest breaks none of them and is told as such. */
export function brokenRows({ result, violations }: Verdict): ReadonlySet<string> {
  return result === "timeout" ? new Set(["timeout"]) : new Set(violations.map(({ id }) => id));
}
