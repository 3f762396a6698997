/** Makes the object that a function handler is called with, out of the cycle's input and its gated step API. */
import type { CheckTask, MakerTask, StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { Json, JsonObject } from "@loopledger/shared/core/json";
import type { StepGate } from "../steps/gate.ts";
import { type CycleInput, type FnCheckTask, type FnMakerTask, StepRefused, ToolFailed } from "./functions.ts";

export interface Surroundings {
  readonly gate: StepGate;
  readonly signal: AbortSignal;
}

export function makerTask(task: MakerTask, { gate, signal }: Surroundings): FnMakerTask {
  const { input } = task;
  return {
    ...cycleInput(task, { gate, signal }),
    task: task.task, epoch: task.epoch, idempotencyKey: task.idempotencyKey,
    previousVerdict: input["previousVerdict"] ?? null, settled: input["settled"] ?? [], previousFailure: input["previousFailure"] ?? null,
    tool: async (name, args, options) => {
      signal.throwIfAborted();
      const { outcome, result } = valueOf(await gate.api.tool(name, args, options?.key));
      if (outcome === "failed") throw new ToolFailed(name, result);
      return result;
    },
  };
}

export function checkTask(task: CheckTask, surroundings: Surroundings): FnCheckTask {
  return { ...cycleInput(task, surroundings), built: (task.input["built"] ?? null) as FnCheckTask["built"] };
}

function cycleInput(task: MakerTask | CheckTask, { gate, signal }: Surroundings): CycleInput {
  const { api } = gate;
  const { input } = task;
  return {
    sessionId: task.sessionId, iteration: task.iteration, leaf: task.leaf, attempt: task.attempt,
    goal: input["goal"] ?? null, inputs: input["inputs"] ?? {}, input, signal,
    step: (name, run, options) => durableStep(gate, { name, run, input: options?.input ?? null, signal }),
    observe: async (observation) => void valueOf(await api.observe(observation)),
    retrieval: async (query, items) => void valueOf(await api.retrieval(query, items)),
    usage: async (usage) => void valueOf(await api.usage(usage)),
    model: async (call) => void valueOf(await api.model(call)),
    reserve: async (amounts) => valueOf(await api.reserve(amounts)),
    budget: async () => valueOf(await api.budget()),
    context: async (tokensMax) => valueOf(await api.context(tokensMax)),
  };
}

/** Asks first whether a result is recorded; runs only where none is, and hands back what was recorded. */
async function durableStep<T extends Json | void>(
  gate: StepGate, step: { name: string; run: () => T | Promise<T>; input: Json; signal: AbortSignal },
): Promise<T> {
  step.signal.throwIfAborted();
  const asked = valueOf(await gate.api.step(step.name, step.input));
  if (asked.recorded) return asked.result as T;
  const made = await step.run();
  return valueOf(await gate.api.step(step.name, step.input, (made ?? null) as Json)).result as T;
}

export function valueOf<T>(answer: StepAnswer<T>): T {
  if (!answer.ok) throw new StepRefused(answer);
  return answer.value;
}

/** A function's answer as JSON; `undefined` where it returned nothing. Throws where it cannot be written as JSON. */
export function asJson(value: unknown): Json | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}
export type { JsonObject };
