/** Tasks and a step API for handlers to run with, without a runtime behind them. */
import type { Digest, Epoch, EventId, SessionId } from "@loopledger/shared/core/brand";
import type { CheckTask, MakerTask, StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";
import type { Json, JsonObject } from "@loopledger/shared/core/json";

export const sessionId = "s-1" as SessionId;

export interface TaskChanges {
  readonly task?: string;
  /** Of a check's leaf; else the task. */
  readonly title?: string;
  readonly input?: JsonObject;
  readonly steps?: StepApi;
  readonly epoch?: number;
  readonly wallSecondsLeft?: number | null;
}
export function makerTask({ task = "Make it work", input, steps = stepsDouble().api, epoch = 1, wallSecondsLeft = null }: TaskChanges = {}): MakerTask {
  return {
    sessionId, dispatch: "d-1" as EventId, iteration: 1, leaf: "goal", task, epoch: epoch as Epoch, attempt: 1,
    idempotencyKey: `maker:${sessionId}:goal:1`, steps, wallSecondsLeft,
    input: input ?? { sessionId, iteration: 1, leaf: "goal", task, goal: { goal: "g" }, inputs: {}, context: [], previousVerdict: null, epoch },
  };
}
export function checkTask({ task = "Make it work", title = task, input, steps = stepsDouble().api, epoch = 1, wallSecondsLeft = null }: TaskChanges = {}): CheckTask {
  return {
    sessionId, dispatch: "d-2" as EventId, iteration: 1, leaf: "goal", task, title, epoch: epoch as Epoch, attempt: 1, steps, wallSecondsLeft,
    input: input ?? { sessionId, iteration: 1, leaf: "goal", goal: { goal: "g" }, inputs: {}, built: { summary: "s" } },
  };
}

/** A claim's step API that remembers what it was asked and keeps named steps. */
export function stepsDouble(answers: { readonly tool?: StepAnswer<{ outcome: "confirmed" | "failed"; result: Json }> } = {}) {
  const asked: Json[] = [];
  const recorded = new Map<string, Json>();
  const note = <T>(call: Json, value: T): Promise<StepAnswer<T>> => {
    asked.push(call);
    return Promise.resolve({ ok: true, value });
  };
  const api: StepApi = {
    tool: async (name, args, key) => {
      asked.push(["tool", name, args, key ?? null]);
      return answers.tool ?? { ok: true, value: { outcome: "confirmed", result: { done: args } } };
    },
    step: async (name, input, result) => {
      asked.push(["step", name, input, result ?? null]);
      if (result !== undefined && !recorded.has(name)) recorded.set(name, result);
      return { ok: true, value: { recorded: recorded.has(name), result: recorded.get(name) ?? null } };
    },
    observe: (observation) => note(["observe", observation as unknown as Json], { seq: 7 }),
    retrieval: (query, items) => note(["retrieval", query, items as unknown as Json], { seq: 8 }),
    usage: (usage) => note(["usage", usage as Json], {}),
    model: (call) => note(["model", call], { seq: 9 }),
    reserve: (amounts) => note(["reserve", amounts as Json], { id: "r-1" }),
    budget: () => note(["budget"], { iterations: { remaining: 3 } } as Json),
    context: (tokensMax) => note(["context", tokensMax], { tokens: 1, messages: [] as Json, digest: `sha256:${"0".repeat(64)}` as Digest }),
  };
  return { api, asked, recorded };
}
