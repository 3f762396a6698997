/** A seed is a plan: machines, sessions, faults. */
import { Draw } from "./draw.ts";
import { faultOf, faultsOf } from "./faults.ts";
import type { MachinePlan, Plan, Role } from "./plan.ts";
import { sessionOf } from "./programs.ts";

const everything: readonly Role[] = ["scheduler", "worker", "checker", "projector"];
/** Casts of processes; in each of them every role is played twice at least. */
const casts: readonly (readonly (readonly Role[])[])[] = [
  [everything, everything],
  [everything, everything, everything],
  [everything, everything, ["worker"], ["checker"]],
  [["scheduler", "projector"], ["scheduler", "projector"], ["worker", "checker"], ["worker", "checker"]],
  [["scheduler"], ["scheduler"], ["worker"], ["worker"], ["checker"], ["checker"], ["projector"], ["projector"]],
  [everything, ["worker", "checker", "scheduler"], ["projector"]],
];

export function planOf(seed: number): Plan {
  const draw = new Draw(seed);
  const machines = machinesOf(draw.fork("machines"));
  const sessions = Array.from({ length: draw.between(1, 5) }, (_, index) => sessionOf(draw.fork(`session ${index}`), index));
  return { seed, machines, sessions, faults: faultsOf(draw.fork("faults"), { machines, sessions }), peopleMs: Array.from({ length: draw.chance(0.35) ? 2 : 1 }, () => draw.between(50, 1_500)) };
}

/** The plan of a seed with exactly so many faults. */
export function crowdedPlanOf(seed: number, count: number): Plan {
  const plan = planOf(seed);
  const draw = new Draw(seed).fork("crowd");
  return { ...plan, faults: Array.from({ length: count }, (_, index) => faultOf(draw.fork(String(index)), plan)) };
}

function machinesOf(draw: Draw): MachinePlan[] {
  const cast = draw.pick(casts);
  return cast.map((roles, index) => ({
    name: `m${index}`, host: draw.chance(0.5) ? "shared" : `h${index}`, roles, delayMs: draw.between(1, 5), lagMs: draw.between(0, 8),
    chunkMax: draw.pick([1, 3, 100]), apart: draw.chance(0.4), skewMs: draw.chance(0.3) ? draw.between(-2_000, 2_000) : 0,
    sessionsMax: draw.chance(0.25) ? draw.between(1, 2) : 50,
  }));
}
