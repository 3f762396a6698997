/**
 * What passes between a cycle's runner and a handler, whatever its kind (`exec`, `http`, `fn`).
 * Shapes are those of the handler surface: an exec maker gets `MakerTask`'s input on stdin, an `fn` maker as its argument.
 */
import type { Digest, Epoch, EventId, SessionId } from "../brand.ts";
import type { CycleLog, Contract, Usage } from "../events/fields.ts";
import type { Json, JsonObject } from "../json.ts";

/** A settled call of an earlier run of the same leaf; an equal call gets its result back. */
export interface Settled {
  readonly tool: string;
  readonly key: string;
  readonly args: Json;
  readonly argsDigest: Digest;
  readonly result: Json;
}
/** What a maker is told. `input` is the JSON of the handler surface; the rest is for the handler itself. */
export interface MakerTask {
  readonly sessionId: SessionId;
  readonly dispatch: EventId;
  readonly iteration: number;
  readonly leaf: string;
  readonly task: string;
  readonly epoch: Epoch;
  /** 1 for the first run of this dispatch; more on a re-run. */
  readonly attempt: number;
  /** `maker:<session>:<leaf>:<iteration>`. */
  readonly idempotencyKey: string;
  /** `{ sessionId, iteration, leaf, task, goal, inputs, context, previousVerdict, epoch, attempt?, settled?, previousFailure? }` */
  readonly input: JsonObject;
  readonly steps: StepApi;
  /** Seconds of running time that the budget still allows; null = no bound. */
  readonly wallSecondsLeft: number | null;
}
export interface CheckTask {
  readonly sessionId: SessionId;
  readonly dispatch: EventId;
  /** Of the checker's claim; on one host a run of a lower epoch yields to one of a higher. */
  readonly epoch?: Epoch | undefined;
  readonly iteration: number;
  readonly leaf: string;
  /** What was built last for this leaf: a next step of an earlier verdict, or the leaf's own words. */
  readonly task: string;
  /** The leaf's own words: its title, or the text of the goal. No verdict changes them. */
  readonly title: string;
  readonly attempt: number;
  /** `{ sessionId, iteration, leaf, goal, inputs, built }` */
  readonly input: JsonObject;
  readonly steps: StepApi;
  readonly wallSecondsLeft: number | null;
}

/** How a maker ended. `failed` is not an error of ours: it is the answer. */
export type CycleEnd =
  | { readonly kind: "built"; readonly result: MakerResult; readonly log?: CycleLog | undefined }
  | {
      readonly kind: "failed"; readonly failure: "transient" | "deterministic"; readonly code: string; readonly message: string;
      /** What the breaker compares; the same for the same fault. */
      readonly fingerprint: string; readonly retryAfterSeconds?: number | undefined; readonly log?: CycleLog | undefined; readonly usage?: Usage | undefined;
    }
  /** It left because a call answered 423 or 424: its exit code does not matter. */
  | { readonly kind: "suspended"; readonly log?: CycleLog | undefined }
  /** It was told to stop: ownership lost, pause now, cancel, or an orderly stop. */
  | { readonly kind: "stopped" };
export interface MakerResult {
  readonly summary: string;
  readonly revision: string | null;
  readonly usage: Usage;
  readonly artifacts?: readonly Json[] | undefined;
  readonly citations?: readonly string[] | undefined;
  readonly mutations?: { readonly count: number; readonly why?: string | undefined } | undefined;
}

/** How a check ended, before and after which the runner takes the revision. */
export interface CheckRun {
  readonly verdict: "PASS" | "FAIL" | "INCONCLUSIVE" | "STOPPED";
  readonly evidence: Json;
  readonly nextSteps: readonly (string | { readonly goal: Json })[];
  /** Named by the handler; else the runner makes one. */
  readonly revision: string | null;
  /** It could not even start (program or project missing): red at iteration 0, else inconclusive. */
  readonly cannotStart: boolean;
  /** The host was short of something, and the check was not judged: the operating system's name for it, as ENOSPC. */
  readonly shortOf?: string | undefined;
  readonly usage: Usage;
  /** Made of what it printed, with figures that change from run to run left out. */
  readonly fingerprint?: string | undefined;
  readonly citations?: readonly string[] | undefined;
  readonly log?: CycleLog | undefined;
}

export interface ToolSettings {
  readonly name: string;
  readonly contract: Contract;
  readonly fences: boolean;
  /** Deadline to start + call timeout + margin, in seconds. */
  readonly callWindowSeconds: number;
  /** Longest call, in seconds. */
  readonly timeoutSeconds: number;
  readonly mutates: boolean;
  readonly approval: "before" | null;
  /** The tool's own semantic key, where it derives one. */
  readonly key: ((args: Json) => string) | null;
}
export interface ToolCall {
  readonly sessionId: SessionId;
  readonly epoch: Epoch;
  readonly key: string;
  readonly args: Json;
}
/** Longest time that a target or a maker may ask for before it is tried again, in seconds: some 116 days. Who asks for more gets that. */
export const retryAfterSecondsMax = 10_000_000;
/** `lost`: nobody knows whether it took effect. `failed`: the target says that it did not. */
export type ToolAnswer =
  | { readonly kind: "confirmed"; readonly result: Json }
  | { readonly kind: "failed"; readonly class: "transient" | "deterministic"; readonly result: Json; readonly retryAfterSeconds?: number | undefined }
  | { readonly kind: "refused"; readonly result: Json }
  | { readonly kind: "lost"; readonly why: string };
export type LookAnswer =
  | { readonly status: "happened"; readonly result: Json; readonly evidence: Json }
  | { readonly status: "did_not_happen"; readonly evidence: Json }
  | { readonly status: "pending" | "unknown"; readonly evidence: Json };

/** Answers of the step protocol; each failure has its HTTP status and code from the surface. */
export type StepAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false; readonly status: 400 | 404 | 409 | 423 | 424;
      readonly code: "bad_request" | "unknown_tool" | "stale_owner" | "key_conflict" | "approval_pending" | "retry_pending" | "incomplete_tool_turn" | "budget_exhausted" | "evidence_missing";
      readonly detail: string;
    };
export interface Observation {
  readonly scope: string;
  readonly query?: Json | undefined;
  readonly observedAt: string;
  readonly pagination?: { readonly page: number; readonly pages?: number | undefined; readonly complete: boolean } | undefined;
  readonly revision?: string | null | undefined;
  readonly outcome: "observed" | "observed_empty" | "partial" | "stale" | "failed";
  readonly items: readonly Json[];
}
/** What a running maker or check may ask of its claim, in any language. A check's tool calls are `unknown_tool`. */
export interface StepApi {
  tool(name: string, args: Json, key?: string): Promise<StepAnswer<{ outcome: "confirmed" | "failed"; result: Json }>>;
  /** First call without `result` tells whether one is recorded; a call with it records it. */
  step(name: string, input: Json, result?: Json): Promise<StepAnswer<{ recorded: boolean; result: Json }>>;
  observe(observation: Observation): Promise<StepAnswer<{ seq: number }>>;
  retrieval(query: string, items: readonly { readonly id: string; readonly digest: string }[]): Promise<StepAnswer<{ seq: number }>>;
  usage(usage: Usage): Promise<StepAnswer<Record<never, never>>>;
  model(call: Json): Promise<StepAnswer<{ seq: number }>>;
  reserve(amounts: { readonly costUsd?: number | undefined; readonly tokens?: number | undefined }): Promise<StepAnswer<{ id: string }>>;
  budget(): Promise<StepAnswer<Json>>;
  context(tokensMax: number): Promise<StepAnswer<{ tokens: number; messages: Json; digest: string }>>;
}
