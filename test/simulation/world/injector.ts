/** Brings the faults of a plan about, and counts those that really happened. */
import type { LedgerFaults, VirtualClock } from "@loopledger/shared/memory";
import { type Fault, world } from "../plan/plan.ts";
import { type Machine, calm } from "./machine.ts";
import type { FailpointHit } from "./points.ts";

export interface Injecting {
  readonly clock: VirtualClock;
  readonly machines: readonly Machine[];
  readonly forgetLeases: () => void;
  readonly forgetViews: () => void;
  readonly changeCheck: (session: string) => void;
  readonly loseLease: (machine: Machine) => void;
  readonly fired: (fault: Fault) => void;
}
type AtPoint = Extract<Fault, { readonly kind: "pause-at" | "crash-at" }>;
type OnAll = Extract<Fault, { readonly kind: "forget-leases" | "forget-views" | "check-changes" }>;
type OnOne = Extract<Fault, { readonly machine: string; readonly at: number }>;
type Windowed = Extract<OnOne, { readonly forMs: number }>;

export function inject(faults: readonly Fault[], on: Injecting): void {
  for (const machine of on.machines) watchPoints(faults.filter((one): one is AtPoint => isAtPoint(one) && one.machine === machine.plan.name), machine, on);
  for (const fault of faults) {
    if (isOnAll(fault)) on.clock.after(fault.at, () => strikeAll(fault, on));
    else if (isOnOne(fault)) on.clock.after(fault.at, () => strike(fault, { faults, on }));
  }
  on.clock.after(world.calmAt, () => {
    for (const machine of on.machines) machine.skew(0);
  });
}

interface Striking { readonly faults: readonly Fault[]; readonly on: Injecting }

function strikeAll(fault: OnAll, on: Injecting): void {
  if (fault.kind === "forget-leases") on.forgetLeases();
  else if ("session" in fault) on.changeCheck(fault.session);
  else on.forgetViews();
  on.fired(fault);
}

function strike(fault: OnOne, { faults, on }: Striking): void {
  const machine = on.machines.find(({ plan }) => plan.name === fault.machine);
  if (!machine) return;
  switch (fault.kind) {
    case "pause": machine.pause(fault.forMs); break;
    case "crash": machine.crash(fault.downMs); break;
    case "leave": machine.leave(fault.downMs); break;
    case "lose-lease": on.loseLease(machine); break;
    case "clock": machine.skew(fault.ms); break;
    default:
      refresh(machine, { faults, on });
      on.clock.after(fault.forMs, () => refresh(machine, { faults, on }));
  }
  on.fired(fault);
}

/** The faults of a machine are those whose window is open now. */
function refresh(machine: Machine, { faults, on }: Striking): void {
  const now = on.clock.monotonic();
  const open = faults.filter((one): one is Windowed => isOnOne(one) && one.machine === machine.plan.name && "forMs" in one && one.at <= now && now < one.at + one.forMs);
  const has = (kind: Windowed["kind"]): number => (open.some((one) => one.kind === kind) ? 1 : 0);
  const slow = (kind: "slow-ledger" | "slow-news"): number => open.reduce((sum, one) => (one.kind === kind ? sum + one.ms : sum), 0);
  const { delayMs, lagMs } = machine.plan;
  const ledger: LedgerFaults = {
    ...calm(machine.plan), drop: has("drop"), duplicate: has("duplicate"), loseAck: has("lose-ack"), split: has("tear"), staleRead: has("stale-read"), staleMs: 400,
    delayMs: [delayMs + slow("slow-ledger"), delayMs + slow("slow-ledger")], lagMs: [lagMs + slow("slow-news"), lagMs + slow("slow-news")],
  };
  Object.assign(machine.faults.ledger, ledger);
  Object.assign(machine.faults.ownership, { unreachable: has("no-lease-service"), twice: has("two-holders") });
  Object.assign(machine.faults.views, { drop: has("views-drop"), loseAck: has("views-lose-ack"), staleRead: has("views-stale") });
}

function watchPoints(faults: readonly AtPoint[], machine: Machine, on: Injecting): void {
  const passed = new Map<string, number>();
  machine.onPoint = ({ point, process }: FailpointHit) => {
    const nth = (passed.get(point) ?? 0) + 1;
    passed.set(point, nth);
    const fault = faults.find((one) => one.point === point && one.nth === nth);
    if (!fault || process !== machine.process || process.state !== "running" || on.clock.monotonic() > world.calmAt) return;
    if (fault.kind === "crash-at") machine.crash(fault.downMs);
    else machine.pause(fault.forMs);
    on.fired(fault);
  };
}
function isAtPoint(fault: Fault): fault is AtPoint {
  return fault.kind === "pause-at" || fault.kind === "crash-at";
}
function isOnAll(fault: Fault): fault is OnAll {
  return fault.kind === "forget-leases" || fault.kind === "forget-views" || fault.kind === "check-changes";
}
function isOnOne(fault: Fault): fault is OnOne {
  return "machine" in fault && "at" in fault;
}
