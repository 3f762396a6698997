/** The operator's handlers by name. Text of a goal picks a name here; it never becomes a command. */
import { resolve } from "node:path";
import type { CheckTask, CycleEnd, MakerTask } from "@loopledger/shared/core/effects/handling";
import type { Check, Handlers, Maker, Running, Tool } from "@loopledger/shared/ports";
import type { HandlersConfigInput } from "./builders.ts";
import { type CheckDefinition, type MakerDefinition, type Target, type ToolDefinition, defaultSeconds } from "./config/definitions.ts";
import { parseHandlersConfig } from "./config/handlers-config.ts";
import type { HandlersDeps } from "./deps.ts";
import { runExecCheck } from "./exec/check.ts";
import { runExecMaker } from "./exec/maker.ts";
import { callExecTool } from "./exec/tool.ts";
import { runHttpCheck, runHttpMaker } from "./http/cycle.ts";
import { callHttpTool, lookByHttp } from "./http/tool.ts";
import { runFnCheck } from "./inline/check.ts";
import { runFnMaker } from "./inline/maker.ts";
import { callFnTool, lookByFn } from "./inline/tool.ts";
import { checkDigest } from "./pin/check-digest.ts";
import { principalOf } from "./principal.ts";
import { workspaceRevision } from "./revision/workspace-revision.ts";
import { endStale } from "./supervisor/stale.ts";

/** Reads the whole config first: throws `HandlersConfigInvalid` with every fault of it, or makes every handler. */
export function makeHandlers(config: HandlersConfigInput, deps: HandlersDeps): Handlers {
  const { makers, checks, tools } = parseHandlersConfig(config);
  const made = {
    makers: mapOf(makers, (name, definition) => makerOf(name, definition, deps)),
    checks: mapOf(checks, (name, definition) => checkOf(name, definition, deps)),
    tools: mapOf(tools, (name, definition) => toolOf(name, definition, deps)),
  };
  return {
    maker: (name) => made.makers.get(name) ?? null,
    check: (name) => made.checks.get(name) ?? null,
    tool: (name) => made.tools.get(name) ?? null,
    toolNames: () => [...made.tools.keys()],
  };
}

function mapOf<D, H>(definitions: Readonly<Record<string, D>>, make: (name: string, definition: D) => H): ReadonlyMap<string, H> {
  return new Map(Object.entries(definitions).map(([name, definition]) => [name, make(name, definition)]));
}

/** The handler's own limit, or what the budget still allows where that is less. */
function limitOf(timeoutSeconds: number, task: MakerTask | CheckTask): number {
  return Math.max(0.001, Math.min(timeoutSeconds, task.wallSecondsLeft ?? timeoutSeconds));
}

function secondsOf(definition: { readonly timeoutSeconds?: number | undefined; readonly http?: Target }, otherwise: number): number {
  return definition.http?.timeoutSeconds ?? definition.timeoutSeconds ?? otherwise;
}

function makerOf(name: string, definition: MakerDefinition, deps: HandlersDeps): Maker {
  const seconds = secondsOf(definition, defaultSeconds.maker);
  const nowMs = deps.now ?? Date.now;
  const effects = definition.effects ?? "workspace";
  const runOnce = async (task: MakerTask, running: Running) => {
    const timeoutSeconds = limitOf(seconds, task);
    switch (definition.kind) {
      case "exec":
        return runExecMaker(definition, task, { deps, timeoutSeconds, running });
      case "http":
        await endStale(deps.sessionFolder(task.sessionId), { epoch: task.epoch });
        return runHttpMaker(definition.http, task, { environment: deps.environment, effects, timeoutSeconds, signal: running.signal, nowMs });
      case "fn":
        // An exec maker sees to this under its supervisor.
        await endStale(deps.sessionFolder(task.sessionId), { epoch: task.epoch });
        return runFnMaker(definition, task, { ...running, timeoutSeconds, nowMs });
      default:
        return definition satisfies never;
    }
  };
  return {
    name, principal: principalOf(name, definition), effects, timeoutSeconds: seconds,
    run: (task, running) => runOnce(task, running).then((end) => budgetOrTime(end, task, seconds)),
  };
}

/** A maker that ran out of the session's running time and not of its own limit says so by its code. */
function budgetOrTime(end: CycleEnd, task: MakerTask, seconds: number): CycleEnd {
  const byBudget = end.kind === "failed" && end.code === "maker_timeout" && task.wallSecondsLeft !== null && task.wallSecondsLeft < seconds;
  return byBudget ? { ...end, code: "wall_seconds", message: "the running time that the budget allows is used up" } : end;
}

function checkOf(name: string, definition: CheckDefinition, deps: HandlersDeps): Check {
  const seconds = secondsOf(definition, defaultSeconds.check);
  const run = (task: CheckTask, running: Running) => {
    const timeoutSeconds = limitOf(seconds, task);
    switch (definition.kind) {
      case "exec":
        return runExecCheck(definition, task, { deps, timeoutSeconds, running });
      case "http":
        return runHttpCheck(definition.http, task, { environment: deps.environment, timeoutSeconds, signal: running.signal, nowMs: deps.now ?? Date.now });
      case "fn":
        return runFnCheck(definition, task, { ...running, timeoutSeconds });
      default:
        return definition satisfies never;
    }
  };
  const workspace = definition.kind === "exec" ? resolve(deps.folder, definition.cwd ?? ".") : null;
  return {
    name, principal: principalOf(name, definition), timeoutSeconds: seconds, run,
    pin: () => checkDigest(definition, { folder: workspace ?? deps.folder, protect: deps.protect ?? [] }),
    revision: async () => (workspace === null ? null : workspaceRevision(workspace, {
      leaveOut: [...(deps.dataFolder === undefined ? [] : [deps.dataFolder]), ...(deps.ownPlaces?.() ?? [])], path: deps.environment["PATH"], slow: deps.tell,
    })),
  };
}

const never = new AbortController().signal;

function toolOf(name: string, definition: ToolDefinition, deps: HandlersDeps): Tool {
  const timeoutSeconds = secondsOf(definition, defaultSeconds.tool);
  const { contract, lookup } = definition;
  const limits = (signal: AbortSignal) => ({ environment: deps.environment, timeoutSeconds, signal, nowMs: deps.now ?? Date.now });
  return {
    name, contract, timeoutSeconds,
    fences: definition.fences ?? false,
    callWindowSeconds: definition.callWindowSeconds ?? Math.max(defaultSeconds.callWindow, timeoutSeconds + defaultSeconds.callMargin),
    mutates: definition.mutates ?? contract !== "none",
    approval: definition.approval ?? null,
    key: definition.key ?? null,
    call: (call, signal = never) => {
      switch (definition.kind) {
        case "exec":
          return callExecTool(definition, call, { deps, timeoutSeconds, signal });
        case "http":
          return callHttpTool(definition.http, call, limits(signal));
        case "fn":
          return callFnTool(definition.fn, call, { timeoutSeconds, signal });
        default:
          return definition satisfies never;
      }
    },
    look: async (call, signal = never) => {
      if (lookup === undefined) return { status: "unknown", evidence: { why: "the tool has no look-up" } };
      const asked = { ...limits(signal), timeoutSeconds: defaultSeconds.lookup };
      if (typeof lookup === "function") return lookByFn(lookup, call, asked);
      return "fn" in lookup ? lookByFn(lookup.fn, call, asked) : lookByHttp(withHeadersOf(lookup, definition), call, asked);
    },
  };
}

/** A look-up sends the tool's own headers too, so that one place holds its credentials; its own win. */
function withHeadersOf(lookup: Target, definition: ToolDefinition): Target {
  if (definition.kind !== "http" || definition.http.headers === undefined) return lookup;
  return { ...lookup, headers: { ...definition.http.headers, ...lookup.headers } };
}
