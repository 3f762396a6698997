/** Faults from a seed: up to forty, each with its place and time, all of them over when the calm begins. */
import { type FailpointName, failpointNames } from "@loopledger/shared/runtime";
import type { Draw } from "./draw.ts";
import type { CallTrouble, Fault, MachinePlan, SessionPlan } from "./plan.ts";

type Kind = Fault["kind"];
const weights: Readonly<Record<Kind, number>> = {
  drop: 3, duplicate: 4, "lose-ack": 3, "stale-read": 1, tear: 1, "slow-ledger": 5, "slow-news": 4, pause: 5, leave: 2, crash: 4, "pause-at": 9, "crash-at": 11,
  "lose-lease": 4, "two-holders": 2, "no-lease-service": 2, "views-drop": 1, "views-lose-ack": 2, "views-stale": 1, "forget-leases": 1,
  "forget-views": 0.5, clock: 3, "check-changes": 0.5, call: 14, look: 6,
};
/** The points that a machine passes: those of its roles. */
function pointsOf({ roles }: MachinePlan): readonly FailpointName[] {
  return failpointNames.filter((name) => roles.some((role) => name.startsWith(role)));
}

export interface Setting {
  readonly machines: readonly MachinePlan[];
  readonly sessions: readonly SessionPlan[];
}

export function faultsOf(draw: Draw, setting: Setting): Fault[] {
  const count = draw.weighted({ none: 1, few: 4, some: 6, many: 6 });
  const ranges = { none: [0, 0], few: [1, 6], some: [7, 18], many: [19, 40] } as const;
  const [from, to] = ranges[count];
  return Array.from({ length: draw.between(from, to) }, (_, index) => faultOf(draw.fork(String(index)), setting));
}

export function faultOf(draw: Draw, { machines, sessions }: Setting): Fault {
  const kind = draw.weighted(weights);
  const where = draw.pick(machines);
  const machine = where.name;
  const at = draw.between(0, 6_000);
  switch (kind) {
    case "drop": case "duplicate": case "lose-ack": case "stale-read": case "tear":
      return { kind, machine, at, forMs: draw.between(20, 1_500) };
    case "slow-ledger": case "slow-news": return { kind, machine, at, forMs: draw.between(20, 2_500), ms: draw.between(20, 3_000) };
    case "pause": return { kind, machine, at, forMs: draw.between(50, 6_000) };
    case "crash": case "leave": return { kind, machine, at, downMs: draw.between(10, 5_000) };
    case "pause-at": return { kind, machine, point: draw.pick(pointsOf(where)), nth: draw.between(1, 5), forMs: draw.between(50, 6_000) };
    case "crash-at": return { kind, machine, point: draw.pick(pointsOf(where)), nth: draw.between(1, 5), downMs: draw.between(10, 5_000) };
    case "lose-lease": return { kind, machine, at };
    case "two-holders": case "no-lease-service": case "views-drop": case "views-lose-ack": case "views-stale":
      return { kind, machine, at, forMs: draw.between(200, 5_000) };
    case "forget-leases": case "forget-views": return { kind, at };
    case "clock": return { kind, machine, at, ms: draw.pick([-1, 1]) * draw.pick([300, 5_000, 60_000, 3_600_000]) };
    case "check-changes": return { kind, at, session: draw.pick(sessions).id };
    case "call": return callTrouble(draw, draw.pick(sessions));
    case "look": return { kind, session: draw.pick(sessions).id, nth: draw.between(1, 3), times: draw.between(1, 6), how: draw.pick(["silent", "pending"]) };
  }
}

function callTrouble(draw: Draw, session: SessionPlan): Fault {
  const how = draw.weighted<CallTrouble>({ "request-lost": 3, "answer-lost": 5, "request-late": 3, "answer-late": 2, "request-twice": 1 });
  return { kind: "call", session: session.id, nth: draw.between(1, 8), how, ms: draw.between(20, 8_000) };
}
