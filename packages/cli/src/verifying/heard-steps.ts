/**
 * The step protocol for a check that runs outside of any cycle: what it reports is heard and not written, because no claim stands
 * behind it. An observation that is not whole counts as it would in a cycle: no PASS may rest on it.
 */
import type { StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";
import type { Json } from "@loopledger/shared/core/json";

const answered = <T>(value: T): Promise<StepAnswer<T>> => Promise.resolve({ ok: true, value });

export class HeardSteps implements StepApi {
  readonly #budget: Json;
  readonly #seq: number;
  readonly #gaps = new Map<string, string>();

  constructor(at: { readonly budget: Json; readonly seq: number }) {
    this.#budget = at.budget;
    this.#seq = at.seq;
  }
  /** Scopes whose last observation was not whole. */
  get gaps(): readonly string[] {
    return [...this.#gaps].map(([scope, outcome]) => `${scope} is ${outcome}`);
  }

  observe({ scope, outcome, pagination }: Parameters<StepApi["observe"]>[0]): ReturnType<StepApi["observe"]> {
    const whole = (outcome === "observed" || outcome === "observed_empty") && pagination?.complete !== false;
    if (whole) this.#gaps.delete(scope);
    else this.#gaps.set(scope, outcome);
    return answered({ seq: this.#seq });
  }
  tool(): ReturnType<StepApi["tool"]> {
    return Promise.resolve({ ok: false, status: 404, code: "unknown_tool", detail: "a check has no tools" });
  }
  step(_name: string, _input: Json, result?: Json): ReturnType<StepApi["step"]> {
    return answered({ recorded: result !== undefined, result: result ?? null });
  }
  retrieval(): ReturnType<StepApi["retrieval"]> {
    return answered({ seq: this.#seq });
  }
  model(): ReturnType<StepApi["model"]> {
    return answered({ seq: this.#seq });
  }
  usage(): ReturnType<StepApi["usage"]> {
    return answered({});
  }
  reserve(): ReturnType<StepApi["reserve"]> {
    return answered({ id: "verification" });
  }
  budget(): ReturnType<StepApi["budget"]> {
    return answered(this.#budget);
  }
  context(): ReturnType<StepApi["context"]> {
    return answered({ tokens: 0, messages: [], digest: "" });
  }
}
