/** What happens to processes and around them: schedulers write what is owed, requests arrive, processes die, calls come late, time goes on. */
import { dueTimers, nextDerived } from "@loopledger/shared/core/session/derive";
import { sha256, wordFor } from "@loopledger/shared/testing";
import type { Breach } from "./account.ts";
import type { CallPlan } from "./configuration.ts";
import { type Ground, type Step, headState, lag, viewsOf } from "./ground.ts";
import { type Process, type World, applied, headOf, isTimed, left, letsGo, restarted, used, withFlight, withHead, withProcess, withoutFlight } from "./world.ts";

const flightsMaxDefault = 4;
const lagMaxOf = ({ configuration }: Ground): number => configuration.lagMax ?? 2;
export const hasRoom = ({ configuration }: Ground, world: World): boolean => world.flights.length < (configuration.flightsMax ?? flightsMaxDefault);

/** What is owed or due by any node that a scheduler may know. */
export function schedulerSteps(ground: Ground, world: World, at: number): Step[] {
  const process = world.processes[at] as Process;
  const plan = ground.configuration.processes[at];
  if (!plan?.roles.includes("scheduler") || !hasRoom(ground, world)) return [];
  const seen = new Set<number>();
  return viewsOf(world, process).flatMap(({ view, behind }) => {
    const { state, now } = ground.nodes.of(view);
    const next = nextDerived(state);
    return [...(next ? [next] : []), ...dueTimers(state, now, sha256)].flatMap((draft): Step[] => {
      const flight = ground.flights.keep([ground.flights.derived(draft)]);
      if (world.flights.includes(flight) || seen.has(flight)) return [];
      seen.add(flight);
      return [{ label: `${plan.name}${process.starts}, as scheduler, sends ${ground.flights.of(flight).label}${lag(behind)}`, world: withFlight(world, flight), isFault: false }];
    });
  });
}

/** A request reaches the log; who waits for it reads its verdict back. */
export function arrivals(ground: Ground, world: World): Step[] {
  return world.flights.flatMap((flight) => {
    const once = arrival(ground, withoutFlight(world, flight), flight);
    const twice = left(world, "duplicate") ? [{ ...arrival(ground, used(world, "duplicate"), flight), isFault: true }] : [];
    return [once, ...twice.map((step) => ({ ...step, label: `${step.label} (a copy stays under way)` }))];
  });
}
function arrival(ground: Ground, world: World, flight: number): Step {
  const { records, own, label } = ground.flights.of(flight);
  let head = headOf(world);
  let breach: Breach | null = null;
  const words: string[] = [];
  const reasons: string[] = [];
  for (const record of records) {
    const stepped = ground.nodes.step(head, record);
    head = stepped.node;
    breach ??= stepped.breach;
    words.push(wordFor(stepped.verdict));
    reasons.push(stepped.verdict.kind === "void" ? stepped.verdict.reason : stepped.verdict.kind);
  }
  const appended = withHead(world, head, lagMaxOf(ground));
  const bad = reasons.slice(0, own).find((reason) => reason !== "accepted") ?? null;
  const processes = appended.processes.map((one) => (one.waits === flight ? readBack(ground, one, { flight, head, bad }) : one));
  const step = { label: `LOG ${label}: ${words.join(", ")}`, world: { ...appended, processes }, isFault: false };
  return breach === null ? step : { ...step, breach };
}
function readBack(ground: Ground, process: Process, by: { readonly flight: number; readonly head: number; readonly bad: string | null }): Process {
  const first = ground.nodes.entry(ground.flights.of(by.flight).records[0] as number);
  const at: Process = { ...process, waits: -1, view: by.head, behind: 0 };
  if (by.bad === "suspended" && first.type !== "claimed") return { ...at, may: [] };
  if (by.bad !== null) return { ...at, ...letsGo };
  return first.type === "claimed" ? { ...at, epoch: first.epoch ?? 0, may: [] } : at;
}

/** A process dies, with or without what it was about to send or call; or it drops the session and lives on. */
export function deaths(ground: Ground, world: World, at: number): Step[] {
  const process = world.processes[at] as Process;
  const name = `${ground.configuration.processes[at]?.name}${process.starts}`;
  if (process.epoch === 0 && process.waits < 0) return [];
  const steps: Step[] = [];
  const anew = { ...restarted(process, { view: world.trail[0] as number, behind: world.trail.length - 1 }), starts: process.starts + 1 };
  if (left(world, "crash")) {
    const dead = withProcess(used(world, "crash"), at, anew);
    steps.push({ label: `${name} DIES and is started anew`, world: dead, isFault: true });
    if (world.flights.includes(process.waits)) steps.push({ label: `${name} DIES before it could send`, world: withoutFlight(dead, process.waits), isFault: true });
    const calls = process.waits < 0 && (!isTimed(ground.configuration) || process.startsWithin >= 0 || ground.configuration.without?.deadline) ? process.may : [];
    for (const key of calls) {
      const late = [...world.target.calls, { key, epoch: process.epoch, takes: 1 }];
      steps.push({ label: `${name} DIES while its call ${key} is under way`, world: { ...dead, target: { ...world.target, calls: late } }, isFault: true });
    }
  }
  if (left(world, "drop")) {
    steps.push({ label: `${name} drops the session`, world: withProcess(used(world, "drop"), at, { ...letsGo, drops: process.drops + 1 }), isFault: true });
  }
  return steps;
}

/** Calls whose sender waits no more come to the target, or never do. */
export function lateCalls(ground: Ground, world: World): Step[] {
  const { configuration } = ground;
  return world.target.calls.flatMap((call, index) => {
    const calls = world.target.calls.filter((_, other) => other !== index);
    const plan = configuration.calls.find((one) => call.key.startsWith(`${one.name}:`)) as CallPlan;
    const { target, isDone } = applied({ ...world.target, calls }, call, { configuration, isKept: plan.contract === "idempotent" });
    const vanished = { label: `the call ${call.key} of epoch ${call.epoch} never arrives`, world: { ...world, target: { ...world.target, calls } }, isFault: false };
    return [{ label: `TARGET gets the late call ${call.key} of epoch ${call.epoch}: ${isDone ? "done" : "refused"}`, world: { ...world, target }, isFault: false }, vanished];
  });
}

/** A second goes by, where that can make a difference. No call is under way for longer than it may be, where the target does not fence. */
export function time(ground: Ground, world: World): Step[] {
  const timed = isTimed(ground.configuration);
  const bounded = timed && !ground.configuration.without?.deadline;
  if (bounded && world.target.calls.some(({ takes }) => takes === 0)) return [];
  const tick = (node: number): number => ground.nodes.tick(node);
  const processes = world.processes.map((one): Process => ({ ...one, view: tick(one.view), startsWithin: timed ? Math.max(-1, one.startsWithin - 1) : 0 }));
  const calls = world.target.calls.map((call) => ({ ...call, takes: timed ? Math.max(0, call.takes - 1) : call.takes }));
  const later = { ...world, trail: world.trail.map(tick), processes, target: { ...world.target, calls } };
  const changes = headOf(later) !== headOf(world) || processes.some((one, at) => one.may.length > 0 && one.startsWithin !== world.processes[at]?.startsWithin);
  return changes ? [{ label: "a second goes by", world: later, isFault: false }] : [];
}

/** A child comes to its end, which is told to its parent once, by whichever scheduler. */
export function children(ground: Ground, world: World): Step[] {
  const state = headState(ground, world);
  return Object.values(state.children).filter((child) => child.open && !state.end).flatMap((child) => (["done", "failed"] as const).flatMap((disposition): Step[] => {
    const data = { child: child.id, disposition, reason: null, spent: {} };
    const flight = ground.flights.keep([ground.flights.scheduler("child_closed", `closed.${child.id}.${disposition}`, data)]);
    if (world.flights.includes(flight) || !hasRoom(ground, world)) return [];
    return [{ label: `the child has ${disposition === "done" ? "done it" : "failed"}; a scheduler sends ${ground.flights.of(flight).label}`, world: withFlight(world, flight), isFault: false }];
  }));
}

/** Somebody changes what is being checked. */
export function edits(ground: Ground, world: World): Step[] {
  if (!left(world, "edit") || headState(ground, world).end) return [];
  const target = { ...world.target, revision: world.target.revision + 1 };
  return [{ label: "somebody changes the workspace", world: { ...used(world, "edit"), target }, isFault: true }];
}
