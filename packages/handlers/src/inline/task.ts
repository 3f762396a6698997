/** Makes the object that a function handler is called with, out of the cycle's input and its gated step API. */
import type { CheckTask, MakerTask, StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { Json } from "@loopledger/shared/core/json";
import type { StepGate } from "../steps/gate.ts";
import type { Told } from "./run.ts";
import { type CycleInput, type FnCheckTask, type FnMakerTask, StepRefused } from "./functions.ts";

export interface Surroundings {
  readonly gate: StepGate;
  readonly told: Pick<Told, "signal">;
}

export function makerTask(task: MakerTask, surroundings: Surroundings): FnMakerTask {
  const { input } = task;
  const { gate, told } = surroundings;
  // Assigned and not spread, so that the signal is not asked for here.
  return Object.assign(cycleInput(task, surroundings), {
    task: task.task, epoch: task.epoch, idempotencyKey: task.idempotencyKey,
    previousVerdict: input["previousVerdict"] ?? null, settled: input["settled"] ?? [], previousFailure: input["previousFailure"] ?? null,
    tool: async (name: string, args: Json, options?: { readonly key?: string }) => {
      told.signal.throwIfAborted();
      return answered(await gate.api.tool(name, args, options?.key));
    },
  });
}

export function checkTask(task: CheckTask, surroundings: Surroundings): FnCheckTask {
  return Object.assign(cycleInput(task, surroundings), { built: (task.input["built"] ?? null) as FnCheckTask["built"] });
}

function cycleInput(task: MakerTask | CheckTask, { gate, told }: Surroundings): CycleInput {
  const { api } = gate;
  const { input } = task;
  return {
    sessionId: task.sessionId, iteration: task.iteration, leaf: task.leaf, attempt: task.attempt,
    goal: input["goal"] ?? null, inputs: input["inputs"] ?? {}, input,
    get signal() {
      return told.signal;
    },
    step: (name, run, options) => durableStep(gate, { name, run, input: options?.input ?? null, signal: told.signal }),
    observe: async (observation) => void answered(await api.observe(observation)),
    retrieval: async (query, items) => void answered(await api.retrieval(query, items)),
    usage: async (usage) => void answered(await api.usage(usage)),
    model: async (call) => void answered(await api.model(call)),
    reserve: async (amounts) => answered(await api.reserve(amounts)),
    budget: async () => answered(await api.budget()),
    context: async (tokensMax) => answered(await api.context(tokensMax)),
  };
}

/** Asks first whether a result is recorded; runs only where none is, and hands back what was recorded. */
async function durableStep<T>(
  gate: StepGate, step: { name: string; run: () => T | Promise<T>; input: Json; signal: AbortSignal },
): Promise<T> {
  step.signal.throwIfAborted();
  const asked = answered(await gate.api.step(step.name, step.input));
  if (asked.recorded) return asked.result as T;
  const made = await step.run();
  return answered(await gate.api.step(step.name, step.input, (made ?? null) as Json)).result as T;
}

function answered<T>(answer: StepAnswer<T>): T {
  if (!answer.ok) throw new StepRefused(answer);
  return answer.value;
}

/** A function's answer as JSON; `undefined` where it returned nothing. Throws where it cannot be written as JSON. */
export function asJson(value: unknown): Json | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}
