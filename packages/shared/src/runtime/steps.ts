/**
 * What a running maker or check may ask of its claim. Every answer comes from the ledger or is on it before it is given.
 * Tools are the worker's: it hands in the desk that makes their effects. A check has none.
 */
import type { StepAnswer, StepApi } from "../core/effects/handling.ts";
import { budgetOf, spentToTheLast } from "../core/budget/budget.ts";
import { buildContext } from "../core/context/build-context.ts";
import type { Actor } from "../core/events/envelope.ts";
import type { Amounts, Usage } from "../core/events/fields.ts";
import { catalogue } from "../core/events/index.ts";
import { type Json, digestOf } from "../core/json.ts";
import { own } from "../core/session/persistent-map.ts";
import { addUsage } from "../core/budget/usage.ts";
import { type Draft, InvalidRecord } from "./author.ts";
import type { Engine } from "./engine.ts";
import { fit, whole } from "./payloads.ts";
import { StaleOwner, Suspended, type Tenure } from "./tenure.ts";

type Failure = Extract<StepAnswer<unknown>, { ok: false }>;
const refusal = (status: Failure["status"], code: Failure["code"], detail: string): Failure => ({ ok: false, status, code, detail });
const staleOwner = refusal(409, "stale_owner", "run ownership moved");

/** Where a maker's tool calls are made. */
export interface ToolDesk {
  call(name: string, args: Json, key?: string): ReturnType<StepApi["tool"]>;
  /** A call was answered 423 or 424. */
  readonly suspended: boolean;
  /** A recorded result that is not in the blob store, in words; null where none was asked for. */
  readonly missing: string | null;
}

export class Steps implements StepApi {
  readonly #engine: Engine;
  readonly #tenure: Tenure;
  readonly #actor: Actor;
  readonly #tools: ToolDesk | null;
  #usage: Usage = {};
  readonly #running = new Set<Promise<unknown>>();
  #fault: { readonly error: unknown } | null = null;
  #refused: Amounts | null = null;
  #missing: string | null = null;
  #usedUp = false;

  constructor(engine: Engine, tenure: Tenure, by: { readonly actor: Actor; readonly tools: ToolDesk | null }) {
    this.#engine = engine;
    this.#tenure = tenure;
    this.#actor = by.actor;
    this.#tools = by.tools;
  }

  /** What was reported so far, for the record that ends the cycle. */
  get used(): Usage {
    return this.#usage;
  }
  /** A call was answered 423 or 424: how the child ends does not matter any more. */
  get suspended(): boolean {
    return this.missing !== null || this.#usedUp || (this.#tools?.suspended ?? false);
  }
  /** A recorded result that is gone from the blob store, in words: nothing goes on without it, and it is never taken for empty. */
  get missing(): string | null {
    return this.#missing ?? this.#tools?.missing ?? null;
  }
  /** What was to be reserved and does not fit into what is left: the session waits for a raise. */
  get refused(): Amounts | null {
    return this.#refused;
  }
  /** A model call was refused because cost or tokens are spent to the last. */
  get usedUp(): boolean {
    return this.#usedUp;
  }
  /** Waits until no call is under way. Throws what went wrong on our side in one of them: then the run counts for nothing, whatever it says of itself. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    if (this.#fault) throw this.#fault.error;
  }

  tool(name: string, args: Json, key?: string): ReturnType<StepApi["tool"]> {
    const tools = this.#tools;
    if (!tools) return Promise.resolve(refusal(404, "unknown_tool", "a check has no tools"));
    return this.#answer(() => tools.call(name, args, key));
  }

  step(name: string, input: Json, result?: Json): ReturnType<StepApi["step"]> {
    return this.#answer<{ recorded: boolean; result: Json }>(async () => {
      const inputDigest = digestOf(input, this.#engine.ids.sha256);
      const known = own(own(this.#tenure.state.work, this.#leaf())?.steps ?? {}, name);
      if (known && known.inputDigest !== inputDigest) return refusal(409, "key_conflict", `step ${name} was recorded with another input`);
      if (known) return this.#recorded(name, known.result);
      if (result === undefined) return { ok: true, value: { recorded: false, result: null } };
      const kept = await fit(this.#engine, this.#tenure.sessionId, result);
      await this.#append({ type: "step", data: { name, inputDigest, result: kept }, actor: this.#actor });
      return { ok: true, value: { recorded: true, result } };
    });
  }

  async #recorded(name: string, kept: Json): ReturnType<StepApi["step"]> {
    const found = await whole(this.#engine, this.#tenure.sessionId, kept);
    if (found) return { ok: true, value: { recorded: true, result: found.value } };
    this.#missing = `the recorded result of step ${name} is not in the blob store: ${JSON.stringify(kept)}`;
    return refusal(424, "evidence_missing", this.#missing);
  }

  observe(observation: Parameters<StepApi["observe"]>[0]): ReturnType<StepApi["observe"]> {
    const { items, ...rest } = observation;
    const data = { ...rest, items: items.length, itemsDigest: digestOf(items, this.#engine.ids.sha256) };
    return this.#fact({ type: "grounding", data, actor: this.#actor } as Draft);
  }
  retrieval(query: string, items: Parameters<StepApi["retrieval"]>[1]): ReturnType<StepApi["retrieval"]> {
    const data = {
      scope: `retrieval:${query}`.slice(0, 512), query, observedAt: new Date(this.#engine.clock.now()).toISOString(),
      outcome: items.length > 0 ? "observed" : "observed_empty", items: items.length, itemsDigest: digestOf(items, this.#engine.ids.sha256),
    } as const;
    return this.#fact({ type: "grounding", data, actor: this.#actor });
  }
  model(call: Json): ReturnType<StepApi["model"]> {
    const read = catalogue.model.versions[0].safeParse(call);
    if (!read.success) return Promise.resolve(refusal(400, "bad_request", read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ")));
    const { usage } = read.data as { readonly usage: Usage };
    const inFlight = (): boolean => usage.reservation !== undefined && Object.hasOwn(this.#tenure.state.spending.reservations, usage.reservation);
    return this.#answer(async () => {
      if (spentToTheLast(this.#tenure.state) && !inFlight()) return this.#spent();
      try {
        await this.#append({ type: "model", data: read.data as never, actor: this.#actor });
      } catch (error) {
        // Another call of this run has spent the last of it meanwhile.
        if (error instanceof Suspended && spentToTheLast(this.#tenure.state)) return this.#spent();
        throw error;
      }
      return { ok: true, value: { seq: this.#tenure.state.seq as number } };
    });
  }
  usage(usage: Usage): ReturnType<StepApi["usage"]> {
    this.#usage = addUsage(this.#usage, usage);
    return Promise.resolve({ ok: true, value: {} });
  }
  reserve(amounts: Parameters<StepApi["reserve"]>[0]): ReturnType<StepApi["reserve"]> {
    return this.#answer<{ id: string }>(async () => {
      const id = this.#engine.ids.uuid();
      try {
        await this.#append({ type: "reserved", data: { id, amounts: { ...amounts } }, actor: this.#actor });
      } catch (error) {
        if (error instanceof Suspended) {
          this.#refused = { ...amounts };
          return refusal(409, "budget_exhausted", "the budget does not allow this reservation");
        }
        throw error;
      }
      return { ok: true, value: { id } };
    });
  }
  budget(): ReturnType<StepApi["budget"]> {
    return this.#answer(() => Promise.resolve({ ok: true, value: budgetOf(this.#tenure.state) as unknown as Json }));
  }
  context(tokensMax: number): ReturnType<StepApi["context"]> {
    return this.#answer(() => {
      const built = buildContext(this.#tenure.state, tokensMax);
      return Promise.resolve({ ok: true, value: { ...built, digest: digestOf(built.messages, this.#engine.ids.sha256) } });
    });
  }

  #spent(): Failure {
    this.#usedUp = true;
    return refusal(409, "budget_exhausted", "the budget of cost or tokens is used up; the step runs again after a raise");
  }
  #fact(draft: Draft): Promise<StepAnswer<{ seq: number }>> {
    return this.#answer(async () => {
      await this.#append(draft);
      return { ok: true, value: { seq: this.#tenure.state.seq as number } };
    });
  }
  #append(draft: Draft): Promise<void> {
    return this.#tenure.append([draft]);
  }
  #leaf(): string {
    return this.#tenure.state.open?.leaf ?? "";
  }

  /** Refusals of the ledger as answers of the protocol. */
  #answer<T>(work: () => Promise<StepAnswer<T>>): Promise<StepAnswer<T>> {
    const answered = (async (): Promise<StepAnswer<T>> => {
      if (this.#fault || !this.#tenure.holds()) return staleOwner;
      if (this.missing !== null) return refusal(424, "evidence_missing", this.missing);
      try {
        return await work();
      } catch (error) {
        if (error instanceof StaleOwner || error instanceof Suspended) return staleOwner;
        if (error instanceof InvalidRecord) return refusal(400, "bad_request", error.message);
        this.#fault ??= { error };
        return staleOwner;
      }
    })();
    this.#running.add(answered);
    const forget = (): void => void this.#running.delete(answered);
    answered.then(forget, forget);
    return answered;
  }
}
