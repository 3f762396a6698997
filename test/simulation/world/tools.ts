/** The doors of the target as one process reaches them: over a way that loses, delays and repeats, and with a clock that gives up. */
import type { LookAnswer, ToolAnswer, ToolCall } from "@loopledger/shared/core/effects/handling";
import type { JsonObject } from "@loopledger/shared/core/json";
import type { MemoryProcess } from "@loopledger/shared/memory";
import type { Clock, Tool } from "@loopledger/shared/ports";
import { type Door, doors, world } from "../plan/plan.ts";
import type { Target, TargetAnswer, TargetCall } from "./target.ts";
import type { Trouble, Troubles } from "./troubles.ts";

export interface Way {
  readonly world: Clock;
  readonly process: MemoryProcess;
  readonly target: Target;
  readonly troubles: Troubles;
}
const lookMs = 5;

export function toolsOn(way: Way): ReadonlyMap<string, Tool> {
  return new Map(doors.map((door) => [door, toolOf(way, door)]));
}

function toolOf(way: Way, door: Door): Tool {
  const fences = isFenced(door);
  return {
    name: door, contract: contractOf(door), fences, callWindowSeconds: world.callWindowSeconds, timeoutSeconds: world.callTimeoutSeconds,
    mutates: door !== "read", approval: null, key: null,
    call: (call) => reach(way, { ...spelled(call), door }, durationOf(call)),
    look: (call) => ask(way, { ...spelled(call), door }),
  };
}
function isFenced(door: Door): boolean {
  return door === "fenced" || door === "unsafe-fenced";
}
function contractOf(door: Door): Tool["contract"] {
  switch (door) {
    case "read": return "none";
    case "idempotent": return "idempotent";
    case "fenced": case "windowed": return "lookup";
    case "unsafe": case "unsafe-fenced": return "unsafe";
  }
}
function spelled({ sessionId, epoch, key, args }: ToolCall): Omit<TargetCall, "door"> {
  return { session: sessionId, epoch, key, args };
}
function durationOf({ args }: ToolCall): number {
  const ms = (args as JsonObject | null)?.["ms"];
  return typeof ms === "number" ? ms : 1;
}

/** One call: it arrives, or not, once or twice; its answer comes back, or not; after a while the caller gives up. */
export function reach(way: Way, call: TargetCall, durationMs: number): Promise<ToolAnswer> {
  const { process, target } = way;
  if (process.state === "killed") return new Promise(() => undefined);
  const trouble = way.troubles.ofCall(call.session);
  const [requestMs, answerMs] = delaysOf(trouble, { door: call.door, durationMs });
  return new Promise((resolve) => {
    const cancel = process.clock.after(world.callTimeoutSeconds * 1_000, () => resolve({ kind: "lost", why: "no answer in time" }));
    const answer = (given: TargetAnswer): void => void way.world.after(answerMs, () => process.enter(() => {
      cancel();
      resolve(answerOf(given));
    }));
    if (trouble?.how === "request-lost") return;
    way.world.after(requestMs, () => {
      const given = target.apply(call);
      if (trouble?.how !== "answer-lost") answer(given);
    });
    // A network repeats a request only towards a door that knows its key.
    if (trouble?.how === "request-twice" && call.door === "idempotent") way.world.after(requestMs + trouble.ms, () => void target.apply(call));
  });
}
/**
 * Half of the call's own time before it is applied, half after. A late request comes as late as it likes only to a door with a
 * fence; to the others it is never under way for longer than the call window allows, for that is outside what is promised.
 */
function delaysOf(trouble: Trouble | null, { door, durationMs }: { readonly door: Door; readonly durationMs: number }): readonly [number, number] {
  const half = Math.max(1, durationMs / 2);
  const latestMs = isFenced(door) ? Number.POSITIVE_INFINITY : world.callTimeoutSeconds * 1_000;
  if (trouble?.how === "request-late") return [Math.min(trouble.ms, latestMs), half];
  return trouble?.how === "answer-late" ? [half, half + trouble.ms] : [half, half];
}
function answerOf(given: TargetAnswer): ToolAnswer {
  switch (given.kind) {
    case "done": return { kind: "confirmed", result: given.result };
    case "refused": return { kind: "refused", result: { error: "run ownership moved" } };
    case "did-not-happen": return { kind: "failed", class: "deterministic", result: { error: "the target said no" } };
  }
}

function ask(way: Way, call: TargetCall): Promise<LookAnswer> {
  const { process, target } = way;
  if (process.state === "killed") return new Promise(() => undefined);
  const trouble = way.troubles.ofLook(call.session);
  return new Promise((resolve) => void way.world.after(lookMs, () => {
    if (trouble) return process.enter(() => resolve({ status: trouble === "silent" ? "unknown" : "pending", evidence: { trouble } }));
    const found = target.look(call);
    way.world.after(lookMs, () => process.enter(() => resolve({ ...found, evidence: { at: way.world.now() } })));
  }));
}
