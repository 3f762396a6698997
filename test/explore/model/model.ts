/** The whole model: from a world, everything that may happen next, and what is broken in a world. */
import { boundsOf } from "@loopledger/shared/core/events/goal";
import { goalOf, recordOf, submissionOf } from "@loopledger/shared/testing";
import { heldBack } from "@loopledger/shared/core/session/rules/dispatching";
import type { Breach } from "./account.ts";
import { type Configuration, type FaultKind, foldOf } from "./configuration.ts";
import { type Ground, type Step, headState } from "./ground.ts";
import { Nodes } from "./nodes.ts";
import { arrivals, children, deaths, edits, lateCalls, schedulerSteps, time } from "./outside.ts";
import { ownerSteps } from "./owner.ts";
import { personSteps } from "./person.ts";
import { type Process, type World, headOf } from "./world.ts";
import { Flights } from "./writing.ts";

const faultKinds: readonly FaultKind[] = [
  "crash", "drop", "suspect", "duplicate", "lost", "failed", "silent", "cycleFailed", "retry", "handBack", "inconclusive", "checkChanged",
  "cancel", "pause", "pauseNow", "checkpoint", "reopen", "edit",
];

export class Model {
  readonly ground: Ground;
  readonly start: World;

  constructor(configuration: Configuration) {
    const goal = goalOf({ policy: { failureFirst: false }, ...configuration.goal });
    const bounds = { ...boundsOf(goal), ...configuration.bounds };
    const guarded = (goal.policy?.approvals ?? []).flatMap((one) => ("before" in one ? [one.before] : []));
    const nodes = new Nodes(foldOf(configuration), { protectedTool: guarded[0] ?? null, iterationsMax: bounds.iterations });
    this.ground = { configuration, nodes, flights: new Flights(nodes) };
    const submitted = nodes.record("goal", () => recordOf("goal_submitted", { ...submissionOf(goal), bounds }, { eventId: "goal" as never }));
    const head = nodes.step(nodes.empty, submitted).node;
    const process: Process = { starts: 0, drops: 0, epoch: 0, view: head, behind: 0, waits: -1, may: [], startsWithin: 0, isTried: false, checked: null };
    this.start = {
      trail: [head], flights: [], processes: configuration.processes.map(() => process), target: { applied: {}, fence: 0, calls: [], revision: 0 },
      look: null, faults: Object.fromEntries(faultKinds.map((kind) => [kind, configuration.faults[kind] ?? 0])), raises: configuration.raises ?? 0,
    };
  }

  next(world: World): Step[] {
    const each = (of: (ground: Ground, world: World, at: number) => Step[]): Step[] => world.processes.flatMap((_, at) => of(this.ground, world, at));
    const steps = [
      ...arrivals(this.ground, world), ...each(ownerSteps), ...each(schedulerSteps), ...lateCalls(this.ground, world), ...personSteps(this.ground, world),
      ...children(this.ground, world), ...time(this.ground, world), ...edits(this.ground, world), ...each(deaths),
    ];
    return steps.map((step) => {
      const breach = step.breach ?? this.broken(step.world);
      return breach === null || breach === undefined ? step : { ...step, breach };
    });
  }

  /** What the target has done against what the ledger says of it. */
  broken(world: World): Breach | null {
    const { account } = this.ground.nodes.of(headOf(world));
    for (const [key, times] of Object.entries(world.target.applied)) {
      if (times > 1) return `${key} was applied ${times} times`;
      if (account.outcomes[key] === "failed") return `${key} was applied, and is settled as not happened`;
    }
    const untrue = Object.entries(account.outcomes).find(([key, outcome]) => outcome === "confirmed" && !world.target.applied[key]);
    if (untrue) return `${untrue[0]} is settled as happened, and was never applied`;
    const needless = this.ground.configuration.iterations === 0 && account.worked;
    return needless ? "work that nobody needs was done" : null;
  }

  /** Over for good: an end that hides nothing, reported; or at rest for want of a budget that nobody raises any more. */
  isOver(world: World): boolean {
    const state = headState(this.ground, world);
    const { end, statusOwed } = state;
    if (end === null) return world.raises === 0 && heldBack(state) === "budget_exhausted";
    return end.reason !== "incomplete_tool_turn" && statusOwed === null;
  }
}
