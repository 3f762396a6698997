/** One moment of everything that a search follows: the log, requests under way, processes, the target, a person, and the faults that are left. */
import type { Configuration, FaultKind } from "./configuration.ts";
import { timing } from "./configuration.ts";

export interface Process {
  /** How often it was started anew. */
  readonly starts: number;
  /** How often it has dropped the session: what it writes then has other ids. */
  readonly drops: number;
  /** The epoch that it carries in memory; 0 = none. */
  readonly epoch: number;
  /** The node of its last look at the log, and how many entries later the log is. */
  readonly view: number;
  readonly behind: number;
  /** The request whose verdict it waits for; -1 = none. */
  readonly waits: number;
  /** Keys that it may call now. */
  readonly may: readonly string[];
  /** Seconds in which a call may still start. */
  readonly startsWithin: number;
  /** It has called something again in this epoch: a further try is for the next one. */
  readonly isTried: boolean;
  /** What a check that has run has seen, where it is recorded in a step of its own. */
  readonly checked: number | null;
}
export interface Call {
  readonly key: string;
  readonly epoch: number;
  /** Seconds that it may still be under way. */
  readonly takes: number;
}
export interface Target {
  readonly applied: Readonly<Record<string, number>>;
  /** Calls under a lower epoch are refused. */
  readonly fence: number;
  readonly calls: readonly Call[];
  /** The revision of what is being worked on. */
  readonly revision: number;
}
/** What a person saw when looking at the target. */
export interface Look {
  readonly key: string;
  readonly outcome: "happened" | "did_not_happen";
  readonly epoch: number;
}
export interface World {
  /** The last nodes of the log, the newest last. */
  readonly trail: readonly number[];
  /** Requests under way, sorted. */
  readonly flights: readonly number[];
  readonly processes: readonly Process[];
  readonly target: Target;
  readonly look: Look | null;
  readonly faults: Readonly<Record<string, number>>;
  readonly raises: number;
}

export const headOf = ({ trail }: World): number => trail.at(-1) as number;
export const left = ({ faults }: World, kind: FaultKind): boolean => (faults[kind] ?? 0) > 0;
export function used(world: World, kind: FaultKind): World {
  return { ...world, faults: { ...world.faults, [kind]: (world.faults[kind] ?? 0) - 1 } };
}

export const restarted = (process: Pick<Process, "starts" | "drops">, view: { readonly view: number; readonly behind: number }): Process => ({
  ...process, ...view, epoch: 0, waits: -1, may: [], startsWithin: 0, isTried: false, checked: null,
});
export function withProcess(world: World, at: number, change: Partial<Process>): World {
  return { ...world, processes: world.processes.map((one, index) => (index === at ? { ...one, ...change } : one)) };
}
/** The process lets go of the session, whatever it was at. */
export const letsGo: Partial<Process> = { epoch: 0, waits: -1, may: [], startsWithin: 0, isTried: false, checked: null };

export function withFlight(world: World, flight: number): World {
  return world.flights.includes(flight) ? world : { ...world, flights: [...world.flights, flight].sort((a, b) => a - b) };
}
export const withoutFlight = (world: World, flight: number): World => ({ ...world, flights: world.flights.filter((one) => one !== flight) });

/** The log has come to another node: it is behind everybody's back, and an idle process forgets what is too old. */
export function withHead(world: World, head: number, lagMax: number): World {
  if (head === headOf(world)) return world;
  const trail = [...world.trail, head].slice(-1 - lagMax);
  const processes = world.processes.map((one): Process => {
    const behind = one.behind + 1;
    if (behind <= lagMax) return { ...one, behind };
    const isIdle = one.epoch === 0 && one.waits < 0 && one.may.length === 0;
    return isIdle ? { ...one, view: trail[0] as number, behind: trail.length - 1 } : { ...one, behind: lagMax + 1 };
  });
  return { ...world, trail, processes };
}

/** A call comes to its target, which keeps the highest epoch of a look: true where it took effect or gives back an effect that it had before, false where the target refuses. */
export function applied(target: Target, call: Omit<Call, "takes">, how: { readonly configuration: Configuration; readonly isKept: boolean }): { readonly target: Target; readonly isDone: boolean } {
  const { configuration, isKept } = how;
  if (configuration.fences && call.epoch < target.fence) return { target, isDone: false };
  const times = target.applied[call.key] ?? 0;
  if (times > 0 && isKept) return { target, isDone: true };
  return { target: { ...target, applied: { ...target.applied, [call.key]: times + 1 } }, isDone: true };
}
export function looked(target: Target, epoch: number, fences: boolean): Target {
  return fences && epoch > target.fence ? { ...target, fence: epoch } : target;
}

/** What two equal worlds have in common, as a text. */
export function textOf(world: World): string {
  const { target, look } = world;
  const processes = world.processes.map((one) => `${one.starts},${one.drops},${one.epoch},${one.view},${one.behind},${one.waits},${one.may.join("+")},${one.startsWithin},${one.isTried ? 1 : 0},${one.checked ?? ""}`);
  const effects = Object.keys(target.applied).sort().map((key) => `${key}=${target.applied[key]}`);
  const calls = target.calls.map(({ key, epoch, takes }) => `${key}@${epoch}.${takes}`).sort();
  const said = look ? `${look.key}${look.outcome}${look.epoch}` : "";
  return `${world.trail.join()}|${world.flights.join()}|${processes.join(";")}|${effects.join()}|${target.fence}|${calls.join()}|${target.revision}|${said}|${Object.values(world.faults).join()}|${world.raises}`;
}

export const marksLooks = ({ fences, without }: Configuration): boolean => fences && !without?.lookFences;
/**
 * Nobody may conclude that nothing happened before no call can be under way any more: where the target does not fence, and of what its
 * owner calls again by itself.
 */
export const mustWait = ({ fences, without }: Configuration, contract: string): boolean => (!fences || contract === "idempotent") && !without?.waitsForWindow;
/** Whether calls are bound by time: a target that fences waits for none, but for what is called again. */
export const isTimed = ({ fences, calls }: Configuration): boolean => !fences || calls.some(({ contract }) => contract === "idempotent");
export const startsWithinOf = (configuration: Configuration): number => (isTimed(configuration) ? timing.startWithin : 0);
