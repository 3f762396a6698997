/** People: they look, answer and ask at any time, and what they send is under way like everything else. */
import { digestOf } from "@loopledger/shared/core/json";
import { lookUp, values } from "@loopledger/shared/core/session/persistent-map";
import { heldBack } from "@loopledger/shared/core/session/rules/dispatching";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { sha256 } from "@loopledger/shared/testing";
import type { DataOf, EventType } from "@loopledger/shared/core/events/index";
import type { FaultKind, ProcessPlan } from "./configuration.ts";
import { type Ground, type Step, headState, isWindowOver } from "./ground.ts";
import { hasRoom } from "./outside.ts";
import { ownerIdOf } from "./owner.ts";
import { type World, headOf, left, looked, marksLooks, mustWait, used, withFlight } from "./world.ts";
import { actionOf, questionOf } from "./writing.ts";

export function personSteps(ground: Ground, world: World): Step[] {
  const state = headState(ground, world);
  if (state.end && state.end.reason !== "incomplete_tool_turn") return reopening(ground, world, state);
  return [...asking(ground, world, state), ...goingOn(ground, world, state), ...answering(ground, world, state), ...settling(ground, world, state)];
}

interface Saying { readonly name: string; readonly label?: string; readonly fault?: FaultKind }
interface Said<T extends EventType> {
  readonly type: T;
  readonly data: Partial<DataOf<T>>;
}
function says<T extends EventType>({ ground, world }: { readonly ground: Ground; readonly world: World }, { type, data }: Said<T>, how: Saying): Step[] {
  const flight = ground.flights.keep([ground.flights.person(type, how.name, data)]);
  if (world.flights.includes(flight) || !hasRoom(ground, world)) return [];
  const next = withFlight(how.fault ? used(world, how.fault) : world, flight);
  return [{ label: how.label ?? `a person sends ${ground.flights.of(flight).label}`, world: next, isFault: how.fault !== undefined }];
}
/** How many of this kind are left gives each its own name. */
const numbered = (world: World, kind: FaultKind): Saying => ({ name: `${kind}.${world.faults[kind] ?? 0}`, fault: kind });

function asking(ground: Ground, world: World, state: SessionState): Step[] {
  const at = { ground, world };
  return [
    ...(left(world, "cancel") ? says(at, { type: "cancel_requested", data: { reason: "stop" } }, numbered(world, "cancel")) : []),
    ...(left(world, "pause") ? says(at, { type: "pause_requested", data: { now: false, reason: "pause" } }, numbered(world, "pause")) : []),
    ...(left(world, "pauseNow") ? says(at, { type: "pause_requested", data: { now: true, reason: "pause now" } }, numbered(world, "pauseNow")) : []),
    ...(left(world, "checkpoint") && !state.end ? says(at, { type: "checkpoint_requested", data: { reason: "look" } }, numbered(world, "checkpoint")) : []),
  ];
}
function reopening(ground: Ground, world: World, state: SessionState): Step[] {
  if (state.end?.disposition !== "handed_off" || !left(world, "reopen")) return [];
  return says({ ground, world }, { type: "resumed", data: { acceptCheck: false, reason: "go on" } }, numbered(world, "reopen"));
}

/** What lets a session go on that waits for a person: an end has to stay in reach by it, so it is no fault. */
function goingOn(ground: Ground, world: World, state: SessionState): Step[] {
  const at = { ground, world };
  const paused = state.pause || (state.suspension && state.suspension.reason !== "budget_exhausted");
  const name = `resumed.${state.acts.size}`;
  const resumed = paused ? says(at, { type: "resumed", data: { acceptCheck: false, reason: "go on" } }, { name }) : [];
  if (world.raises === 0 || heldBack(state) !== "budget_exhausted") return resumed;
  const raised = says({ ground, world: { ...world, raises: world.raises - 1 } }, { type: "budget_raised", data: { iterations: 1 } }, { name: `raised.${world.raises}` });
  return [...resumed, ...raised];
}

function answering(ground: Ground, world: World, state: SessionState): Step[] {
  const at = { ground, world };
  const { answers = [], earlyAnswers, calls } = ground.configuration;
  const questions = values(state.checkpoints).filter((one) => one.request !== null && one.decision === null).map(({ id, digest, action }) => ({ id, digest, action }));
  const open = earlyAnswers && state.open?.cycle === "build" ? state.open.iteration : null;
  const early = open === null ? [] : calls.filter((call) => !lookUp(state.checkpoints, questionOf(call, open)))
    .map((call) => ({ id: questionOf(call, open), digest: digestOf(actionOf(call, open), sha256), action: actionOf(call, open) }));
  return [...questions, ...early].flatMap(({ id, digest }) => answers.flatMap((decision) => {
    const action = decision === "MODIFY" ? { action: { task: "another task" } } : {};
    return says(at, { type: "approval_decided", data: { checkpoint: id, digest, decision, comment: "", ...action } }, { name: `answer.${id}.${decision}` });
  }));
}

/** The owner that the fold names has not died. */
function isHeld({ configuration }: Ground, { processes }: World, { owner }: SessionState): boolean {
  return processes.some((one, at) => ownerIdOf(configuration.processes[at] as ProcessPlan, one) === owner?.id);
}

/** A person looks at the target, and says later what was seen. */
function settling(ground: Ground, world: World, state: SessionState): Step[] {
  if (world.look) {
    const { key, outcome, epoch } = world.look;
    const intent = lookUp(state.effects, key)?.intent;
    if (!intent) return [];
    const data = { intent, key, epoch: epoch as never, outcome, evidence: null, by: "boss" };
    return says({ ground, world: { ...world, look: null } }, { type: "reconciled", data }, { name: `said.${key}.${outcome}.${epoch}.${sha256(intent).slice(0, 4)}` });
  }
  return state.unsettled.flatMap((key): Step[] => {
    const effect = lookUp(state.effects, key);
    const mayLook = state.end !== null || ground.configuration.personInterferes === true || !isHeld(ground, world, state);
    if (!effect || !mayLook) return [];
    const happened = (world.target.applied[key] ?? 0) > 0;
    if (!happened && mustWait(ground.configuration, effect.contract) && !isWindowOver(ground.nodes.of(headOf(world)), key)) return [];
    const outcome = happened ? "happened" : "did_not_happen";
    const seen = { ...world, look: { key, outcome, epoch: state.epoch }, target: looked(world.target, state.epoch, marksLooks(ground.configuration)) } as const;
    return [{ label: `a person looks at ${key} in epoch ${state.epoch}: ${outcome}`, world: seen, isFault: false }];
  });
}
