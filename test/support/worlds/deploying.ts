/** The work that most stories are about: a maker that deploys through a tool each iteration, and a check that is red until enough is deployed. */
import type { FnCheckTask, FnMakerTask, HandlersConfigInput } from "@loopledger/handlers/index";
import type { Json } from "@loopledger/shared/core/json";
import { type Door, type Target, doors } from "./target.ts";

export interface Deploying {
  readonly target: Target;
  /** Build iterations until the check is green (default 1). */
  readonly iterations?: number;
  readonly door?: Door;
  /** Of the door that can only be asked later, in seconds. */
  readonly windowSeconds?: number;
  /** Runs in place of the maker. */
  readonly maker?: (task: FnMakerTask) => unknown;
  /** Told of each maker that starts, of each check that starts. */
  readonly started?: (what: "maker" | "check", iteration: number) => void;
  /** Runs inside the check, before its verdict. */
  readonly checking?: (task: FnCheckTask) => unknown;
}

export function deploying(how: Deploying): HandlersConfigInput {
  const { target, iterations = 1, door = "idempotent", started } = how;
  const maker = async (task: FnMakerTask): Promise<unknown> => {
    started?.("maker", task.iteration);
    if (how.maker) return how.maker(task);
    await task.tool(door, { version: task.iteration });
    return { summary: `version ${task.iteration} is deployed`, revision: `v${task.iteration}` };
  };
  const check = async (task: FnCheckTask): Promise<unknown> => {
    started?.("check", task.iteration);
    await how.checking?.(task);
    const green = task.iteration >= iterations;
    return { verdict: green ? "PASS" : "FAIL", evidence: { iteration: task.iteration }, next_steps: green ? [] : [`deploy version ${task.iteration + 1}`] };
  };
  return { makers: { maker: { fn: maker } }, checks: { check: { fn: check } }, tools: toolsOf(target, how.windowSeconds ?? 60) } as never;
}

interface CallContext { readonly key: string; readonly epoch: number; readonly sessionId: string }

function toolsOf(target: Target, windowSeconds: number): Record<string, unknown> {
  return Object.fromEntries(doors.map((door) => [door, toolOf(target, door, windowSeconds)]));
}

function toolOf(target: Target, door: Door, windowSeconds: number): Record<string, unknown> {
  const fn = async (args: Json, { key, epoch, sessionId }: CallContext): Promise<Json> => {
    const answer = await target.call({ tool: door, key, session: sessionId, epoch, args });
    if (answer.kind === "done") return answer.result;
    throw new Error(answer.kind === "refused" ? "run ownership moved" : "the connection broke");
  };
  const lookup = (key: string, { epoch, sessionId, args }: CallContext & { readonly args: Json }) =>
    target.look({ tool: door, key, session: sessionId, epoch, args });
  switch (door) {
    case "idempotent": return { fn, contract: "idempotent" };
    case "fenced": return { fn, contract: "lookup", lookup, fences: true };
    case "windowed": return { fn, contract: "lookup", lookup, callWindowSeconds: windowSeconds, timeoutSeconds: windowSeconds / 4 };
    case "unsafe": return { fn, contract: "unsafe", callWindowSeconds: windowSeconds, timeoutSeconds: windowSeconds / 4 };
  }
}
