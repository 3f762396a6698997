/** A process at its session: what `decide` tells it to do at each node that it may know, and how each of these can go. */
import type { DataOf, EventType } from "@loopledger/shared/core/events/index";
import { digestOf } from "@loopledger/shared/core/json";
import { type Decision, decide } from "@loopledger/shared/core/session/decide";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import type { Checkpoint, SessionState } from "@loopledger/shared/core/session/state";
import { sha256 } from "@loopledger/shared/testing";
import { type CallPlan, type FaultKind, type ProcessPlan, servesOf } from "./configuration.ts";
import { type Ground, type Step, isWindowOver, lag, viewsOf } from "./ground.ts";
import { type Process, type World, applied, isTimed, left, letsGo, looked, marksLooks, mustWait, startsWithinOf, used, withFlight, withProcess } from "./world.ts";
import { type Pen, actionOf, intentOf, keyOf, questionOf } from "./writing.ts";

/** A process at one of the nodes that it may know. */
interface Seat {
  readonly ground: Ground;
  readonly world: World;
  readonly at: number;
  readonly plan: ProcessPlan;
  readonly process: Process;
  readonly view: number;
  readonly behind: number;
  readonly state: SessionState;
  readonly steps: Step[];
}

export const ownerIdOf = ({ name }: ProcessPlan, { starts }: Process): string => `${name}${starts}`;

/** Everything that this process may do next, of itself. */
export function ownerSteps(ground: Ground, world: World, at: number): Step[] {
  const process = world.processes[at] as Process;
  const plan = ground.configuration.processes[at] as ProcessPlan;
  const steps: Step[] = [];
  if (process.waits >= 0) return steps;
  if (process.may.length > 0) {
    callSteps({ ground, world, at, plan, process, view: process.view, behind: process.behind, state: ground.nodes.of(process.view).state, steps });
    return steps;
  }
  for (const { view, behind } of viewsOf(world, process)) {
    decideAt({ ground, world: withProcess(world, at, { view, behind }), at, plan, process: { ...process, view, behind }, view, behind, state: ground.nodes.of(view).state, steps });
  }
  return steps;
}

function add(seat: Seat, label: string, to: { readonly world: World; readonly isFault?: boolean; readonly breach?: string }): void {
  const { starts } = seat.process;
  const { isFault = false, ...rest } = to;
  seat.steps.push({ label: `${seat.plan.name}${starts} ${label}${lag(seat.behind)}`, isFault, ...rest });
}
function penOf({ plan, process }: Seat, epoch = process.epoch): Pen {
  return { ownerId: ownerIdOf(plan, process), epoch, drops: process.drops };
}
/** Sends, and waits for the verdict. */
function sent({ world, at }: Seat, flight: number, change: Partial<Process> = {}): World {
  return withProcess(withFlight(world, flight), at, { waits: flight, ...change });
}

function decideAt(seat: Seat): void {
  const { ground, state, process } = seat;
  const ownerId = ownerIdOf(seat.plan, process);
  const carries = state.owner?.id === ownerId && process.epoch === state.epoch;
  const lives = seat.world.processes.some((one, index) => ownerIdOf(ground.configuration.processes[index] as ProcessPlan, one) === state.owner?.id);
  const decideWith = (ownerIs: "live" | "gone"): Decision =>
    decide(state, { ownerId: ownerId as never, serves: servesOf(seat.plan), carries, ownerIs });
  const decision = decideWith(lives ? "live" : "gone");
  act(seat, decision, carries);
  if (decision.do === "wait" && decision.on === "holder" && left(seat.world, "suspect")) claim({ ...seat, world: used(seat.world, "suspect") }, { why: " (believes the owner dead)", isFault: true });
}

function act(seat: Seat, decision: Decision, carries: boolean): void {
  const { process, world, at } = seat;
  if (process.epoch > 0 && !carries) {
    add(seat, "sees that it is owner no more", { world: withProcess(world, at, letsGo) });
    return;
  }
  switch (decision.do) {
    case "claim": claim(seat, { why: carries ? " (its own next one)" : "", isFault: false }); break;
    case "settle": for (const key of decision.keys) settle(seat, key); break;
    case "perform": perform(seat, decision.checkpoint); break;
    case "run": (decision.cycle === "build" ? build : review)(seat); break;
    case "hand_back": handBack(seat, false); break;
    case "wait": case "over": break;
  }
}

function claim(seat: Seat, how: { readonly why: string; readonly isFault: boolean }): void {
  const { ground, state } = seat;
  if (!state.open) return;
  const epoch = state.epoch + 1;
  const record = ground.flights.claim(penOf(seat, epoch), state.open.eventId, servesOf(seat.plan));
  const world = sent(seat, ground.flights.keep([record]), { epoch: 0, startsWithin: startsWithinOf(ground.configuration), isTried: false, checked: null });
  add(seat, `sends a claim of epoch ${epoch}${how.why}`, { world, isFault: how.isFault });
}

function handBack(seat: Seat, stops: boolean): void {
  const { ground, state, at, world, process } = seat;
  const data = { dispatch: state.open?.eventId as never, why: "lets go" };
  const flight = ground.flights.keep([ground.flights.own("handed_back", data, { pen: penOf(seat), state })]);
  const gone = stops ? { starts: process.starts + 1 } : {};
  const next = withProcess(withFlight(stops ? used(world, "handBack") : world, flight), at, { ...letsGo, ...gone });
  add(seat, stops ? "stops in good order: sends handed_back" : "sends handed_back", { world: next, isFault: stops });
}

/** An owner record, sent alone or with what it calls for. */
interface What<T extends EventType> {
  readonly type: T;
  readonly data: Partial<DataOf<T>>;
}
interface How {
  readonly fault?: FaultKind;
  readonly follow?: boolean;
  readonly change?: Partial<Process>;
  readonly label?: string;
}
function write<T extends EventType>(seat: Seat, { type, data }: What<T>, how: How = {}): void {
  const { ground, state, view } = seat;
  const record = ground.flights.own(type, data, { pen: penOf(seat), state });
  const flight = how.follow ? ground.flights.withDerived(view, [record]) : ground.flights.keep([record]);
  const from = how.fault ? { ...seat, world: used(seat.world, how.fault) } : seat;
  const world = sent(from, flight, { epoch: seat.process.epoch, checked: null, ...how.change });
  add(seat, how.label ?? `sends ${ground.flights.of(flight).label}`, { world, isFault: how.fault !== undefined });
}

function callsAt({ ground, state }: Seat): readonly CallPlan[] {
  const { calls, callingLeaf } = ground.configuration;
  return callingLeaf === undefined || callingLeaf === state.open?.leaf ? calls : [];
}
const statusOfCall = ({ state }: Seat, call: CallPlan): "none" | "unsettled" | "confirmed" | "failed" => {
  const effect = lookUp(state.effects, keyOf(call, state.open?.iteration ?? 0));
  return effect ? (effect.settled ?? "unsettled") : "none";
};

function build(seat: Seat): void {
  const { world, state } = seat;
  const due = callsAt(seat).find((call) => statusOfCall(seat, call) !== "confirmed");
  if (due) ask(seat, due, []);
  else write(seat, { type: "built", data: { summary: "built", revision: revisionOf(seat), usage: {} } }, { follow: true });
  if (left(world, "cycleFailed")) {
    const failure = { dispatch: state.open?.eventId as never, class: "transient", code: "exit_1", fingerprint: "exit 1", terminal: false, message: "exit 1", usage: {} } as const;
    write(seat, { type: "cycle_failed", data: failure }, { fault: "cycleFailed", follow: true });
  }
  commonFaults(seat);
}
function commonFaults(seat: Seat): void {
  const { world, state } = seat;
  if (left(world, "retry")) {
    const data = { type: "tool", operation: "deploy", attempt: (state.open?.retries ?? 0) + 1, delay_seconds: 1, error: "503", errorClass: "transient" } as const;
    write(seat, { type: "retry", data }, { fault: "retry" });
  }
  if (left(world, "handBack")) handBack(seat, true);
  if (left(world, "checkChanged")) {
    write(seat, { type: "status", data: { disposition: "waiting", reason: "check_changed", error: null } }, { fault: "checkChanged" });
  }
}

/** The intent, or the question that comes before it. */
function ask(seat: Seat, call: CallPlan, may: readonly string[]): void {
  const { ground, state } = seat;
  const policy = ground.configuration.goal?.policy?.approvals ?? [];
  const isProtected = policy.some((one) => "before" in one && one.before === call.name);
  const iteration = state.open?.iteration ?? 0;
  const checkpoint = lookUp(state.checkpoints, questionOf(call, iteration));
  if (!isProtected || checkpoint?.approvedAction) {
    intend(seat, call, { may, approval: isProtected ? questionOf(call, iteration) : undefined });
    return;
  }
  if (checkpoint?.request) return;
  const action = actionOf(call, iteration);
  const expires = ground.configuration.expiresSeconds ?? null;
  write(seat, { type: "approval_requested", data: { checkpoint: questionOf(call, iteration), trigger: "before", action, digest: digestOf(action, sha256), expires } });
}
function intend(seat: Seat, call: CallPlan, how: { readonly may: readonly string[]; readonly approval: string | undefined }): void {
  const { ground, state, process, at } = seat;
  const data = { ...intentOf(call, state, ground.configuration), ...(how.approval === undefined ? {} : { approval: how.approval }) };
  const startsWithin = how.may.length > 0 ? process.startsWithin : startsWithinOf(ground.configuration);
  const may = [...how.may, keyOf(call, state.open?.iteration ?? 0)];
  if (!ground.configuration.without?.readBack) {
    write(seat, { type: "tool_requested", data }, { change: { may, startsWithin } });
    return;
  }
  const flight = ground.flights.keep([ground.flights.own("tool_requested", data, { pen: penOf(seat), state })]);
  const world = withProcess(withFlight(seat.world, flight), at, { may, startsWithin, waits: -1, epoch: process.epoch });
  add(seat, `sends ${ground.flights.of(flight).label}, and does not wait for it`, { world });
}
function perform(seat: Seat, checkpoint: Checkpoint): void {
  const call = callsAt(seat).find((one) => questionOf(one, seat.state.open?.iteration ?? 0) === checkpoint.id);
  if (call) intend(seat, call, { may: [], approval: checkpoint.id });
  else build(seat);
}

/** What it may call is called, or waits; the answer comes, or does not. */
function callSteps(seat: Seat): void {
  const { ground, world, process, at, state } = seat;
  const { configuration } = ground;
  const late = isTimed(configuration) && process.startsWithin < 0 && !configuration.without?.deadline;
  if (late) {
    add(seat, "has no time left to call", { world: withProcess(world, at, { may: [] }) });
    return;
  }
  for (const key of process.may) {
    const call = configuration.calls.find((one) => key.startsWith(`${one.name}:`)) as CallPlan;
    const rest = process.may.filter((one) => one !== key);
    const { target, isDone } = applied(world.target, { key, epoch: process.epoch }, { configuration, isKept: call.contract === "idempotent" });
    if (!isDone) add(seat, `calls ${key} in epoch ${process.epoch}: refused`, { world: withProcess(world, at, letsGo) });
    else answered(seat, { key, may: rest, outcome: "confirmed", world: { ...world, target } });
    const mayFail = isDone && (world.target.applied[key] ?? 0) === 0 && (configuration.without?.refusalWaits || lookUp(state.effects, key)?.epoch === process.epoch);
    if (left(world, "failed") && mayFail) answered(seat, { key, may: rest, outcome: "failed", world: used(world, "failed") });
    if (!left(world, "lost")) continue;
    const lost = withProcess(used(world, "lost"), at, { may: [] });
    const calls = [...world.target.calls, { key, epoch: process.epoch, takes: 1 }];
    add(seat, `calls ${key} in epoch ${process.epoch}; no answer, the call is under way`, { world: { ...lost, target: { ...world.target, calls } }, isFault: true });
    add(seat, `calls ${key} in epoch ${process.epoch}; the call is lost on its way`, { world: lost, isFault: true });
  }
  const next = configuration.together ? callsAt(seat).find((call) => statusOfCall(seat, call) === "none" && !process.may.includes(keyOf(call, state.open?.iteration ?? 0))) : undefined;
  if (next) ask(seat, next, process.may);
}
function answered(seat: Seat, by: { readonly key: string; readonly may: readonly string[]; readonly outcome: "confirmed" | "failed"; readonly world: World }): void {
  const label = `calls ${by.key} in epoch ${seat.process.epoch}: ${by.outcome}; sends its result`;
  const from = { ...seat, world: by.world };
  const { ground, state } = seat;
  const record = ground.flights.own("tool_result", { key: by.key, outcome: by.outcome, result: null }, { pen: penOf(seat), state });
  const world = sent(from, ground.flights.keep([record]), { may: by.may });
  add(seat, label, { world, isFault: by.outcome === "failed" });
}

/** What an earlier epoch left unknown: called again under its key, or looked at. */
function settle(seat: Seat, key: string): void {
  const { ground, world, state, process } = seat;
  const { configuration } = ground;
  const effect = lookUp(state.effects, key);
  if (!effect) return;
  const gives: Partial<DataOf<"status">> = { disposition: "failed", reason: "incomplete_tool_turn", error: "no answer" };
  if (left(world, "silent")) write(seat, { type: "status", data: gives }, { fault: "silent", follow: true, label: "gets no answer about what is unknown, and says so" });
  if (effect.contract === "idempotent") {
    callAgain(seat, key);
    return;
  }
  const happened = (world.target.applied[key] ?? 0) > 0;
  if (!happened && mustWait(configuration, effect.contract) && !isWindowOver(ground.nodes.of(seat.view), key)) return;
  const outcome = happened ? "happened" : "did_not_happen";
  const data = { intent: effect.intent, key, epoch: process.epoch as never, outcome, evidence: null, by: "look-up" } as const;
  const target = looked(world.target, process.epoch, marksLooks(configuration));
  write({ ...seat, world: { ...world, target } }, { type: "reconciled", data }, { label: `looks at ${key}: ${outcome}; says so` });
}

function callAgain(seat: Seat, key: string): void {
  const { world, process, at, ground } = seat;
  const isLate = isTimed(ground.configuration) && process.startsWithin < 0;
  if (process.isTried || isLate) claim(seat, { why: " (its own next one, to call again)", isFault: false });
  else add(seat, `will call ${key} again`, { world: withProcess(world, at, { may: [key], isTried: true, epoch: process.epoch }) });
}

function revisionOf({ world, state }: Seat): string {
  return `r${state.iteration}.${world.target.revision}`;
}
function review(seat: Seat): void {
  const { world, process, at, ground } = seat;
  const bySteps = (ground.configuration.faults.edit ?? 0) > 0;
  if (bySteps && process.checked === null) {
    add(seat, "runs the check", { world: withProcess(world, at, { checked: world.target.revision, epoch: process.epoch }) });
    return;
  }
  const moved = bySteps && process.checked !== world.target.revision;
  if (moved && !ground.configuration.without?.freshness) {
    add(seat, "finds another revision, and checks again", { world: withProcess(world, at, { checked: null }) });
    return;
  }
  const verdict = verdictOf(seat);
  const before = seat.steps.length;
  judged(seat, verdict);
  const sentVerdict = seat.steps[before];
  if (moved && verdict === "PASS" && sentVerdict) seat.steps[before] = { ...sentVerdict, breach: "a PASS for a revision that moved while the check ran" };
  if (left(world, "inconclusive")) judged(seat, "INCONCLUSIVE");
  commonFaults(seat);
}
/** The check asks for a child, and no child was opened before. */
const wantsChild = ({ state, ground }: Seat): boolean => ground.configuration.opensChild === true && Object.keys(state.children).length === 0;
function verdictOf(seat: Seat): "PASS" | "FAIL" {
  const { state, ground } = seat;
  if (wantsChild(seat)) return "FAIL";
  if (state.open && state.open.leaf !== "goal" && state.open.iteration > 0) return "PASS";
  return (state.open?.iteration ?? 0) >= ground.configuration.iterations ? "PASS" : "FAIL";
}
function judged(seat: Seat, verdict: "PASS" | "FAIL" | "INCONCLUSIVE"): void {
  const step = wantsChild(seat) ? { goal: { goal: "a part of it", maker: "agent", check: "tests" } } : "work";
  const next_steps = verdict === "FAIL" ? [step] : [];
  const fault = verdict === "INCONCLUSIVE" ? { fault: "inconclusive" as const } : {};
  write(seat, { type: "check", data: { verdict, evidence: {}, revision: revisionOf(seat), next_steps, usage: {} } }, { follow: true, ...fault });
}
