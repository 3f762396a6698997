/** The functions that an operator may register, and what they are handed. */
import type { Observation, StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { Usage } from "@loopledger/shared/core/events/fields";
import type { Json, JsonObject } from "@loopledger/shared/core/json";

/** The input of a running cycle: the JSON that an exec handler gets on stdin. */
export interface CycleInput {
  readonly sessionId: string;
  readonly iteration: number;
  readonly leaf: string;
  readonly attempt: number;
  readonly goal: Json;
  readonly inputs: Json;
  /** The whole input as JSON; its `context` stands here, because `task.context` is the call. */
  readonly input: JsonObject;
  /** Aborted when ownership is lost or the run is told to stop. */
  readonly signal: AbortSignal;
  /** A durable step: on a re-run the recorded result comes back and `run` is not called. Same name, other input: `key_conflict`. */
  step<T>(name: string, run: () => T | Promise<T>, options?: { readonly input?: Json }): Promise<T>;
  observe(observation: Observation): Promise<void>;
  retrieval(query: string, items: readonly { readonly id: string; readonly digest: string }[]): Promise<void>;
  usage(usage: Usage): Promise<void>;
  model(call: Json): Promise<void>;
  reserve(amounts: { readonly costUsd?: number; readonly tokens?: number }): Promise<{ readonly id: string }>;
  budget(): Promise<Json>;
  context(tokensMax: number): Promise<{ readonly tokens: number; readonly messages: Json; readonly digest: string }>;
}
export interface FnMakerTask extends CycleInput {
  readonly task: string;
  readonly epoch: number;
  readonly idempotencyKey: string;
  readonly previousVerdict: Json;
  readonly settled: Json;
  readonly previousFailure: Json;
  /** Calls a registered tool under this claim. `failed`: the target says that it did not happen. Throws `StepRefused` where the claim refuses the call. */
  tool(name: string, args: Json, options?: { readonly key?: string }): Promise<{ readonly outcome: "confirmed" | "failed"; readonly result: Json }>;
}
export interface FnCheckTask extends CycleInput {
  readonly built: { readonly summary?: string; readonly revision?: string | null; readonly [key: string]: Json | undefined } | null;
}
/** What a tool's function gets beside its arguments. */
export interface FnToolCall {
  readonly key: string;
  readonly epoch: number;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}
// biome-ignore lint/suspicious/noExplicitAny: an operator's function is free in what it takes; the surface says what it gets.
type Free = any;
export type MakerFunction = (task: Free) => unknown;
export type CheckFunction = (task: Free) => unknown;
export type ToolFunction = (args: Free, call: Free) => unknown;
export type LookFunction = (key: string, call: Free) => unknown;

type Refusal = Extract<StepAnswer<never>, { ok: false }>;
/**
 * The claim refused a call. 423 and 424: return or let it through, the engine goes on after the decision. 409 `stale_owner`: another
 * owner holds the session. 404, 400 and `key_conflict` are faults of the caller.
 */
export class StepRefused extends Error {
  readonly status: Refusal["status"];
  readonly code: Refusal["code"];
  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.status = refusal.status;
    this.code = refusal.code;
  }
}
