/** What was meant against what was done, by the target's own names for it. */
import type { SessionPlan } from "../plan/plan.ts";
import type { TargetRow } from "../world/target.ts";
import type { Say } from "./violation.ts";

/** E9: what is meant is done once, in whatever words and under whatever keys. */
export function judgeOnce(effects: readonly TargetRow[], say: Say): void {
  const times = new Map<string, number>();
  for (const { kind, door, identity } of effects) {
    if (kind === "application" && door !== "read") times.set(identity, (times.get(identity) ?? 0) + 1);
  }
  for (const [identity, count] of times) if (count > 1) say("E9", `${identity} is done ${count} times`);
}

/** What had to be done by an end that came as expected was done, exactly. */
export function judgeIntended(plan: SessionPlan, effects: readonly TargetRow[], say: Say): void {
  for (const [identity, expected] of Object.entries(plan.expected.applied)) {
    const applied = effects.filter((row) => row.kind === "application" && row.identity === identity).length;
    if (applied < expected) say("E2", `${identity} was meant and is not done`);
    if (applied > expected) say("E9", `${identity} is done ${applied} times and was meant ${expected} times`);
  }
}
