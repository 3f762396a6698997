/** The step protocol from the other side: what `loopledger step …` and any program under Node speaks. */
import type { StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";

export interface StepClientOptions {
  /** `LOOPLEDGER_STEP_URL` */
  readonly url: string;
  /** `LOOPLEDGER_STEP_TOKEN` */
  readonly token: string;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The step server cannot be reached, or what answers there is no step server. */
export class StepServerUnreachable extends Error {
  readonly code = "step_server_unreachable";
  readonly next = "run this inside a maker or check of a running session; LOOPLEDGER_STEP_URL and LOOPLEDGER_STEP_TOKEN are set there";
}

export function stepClient({ url, token, fetch = globalThis.fetch }: StepClientOptions): StepApi {
  async function call<T>(path: string, body?: unknown): Promise<StepAnswer<T>> {
    let status: number;
    let value: unknown;
    try {
      const response = await fetch(new URL(path, url), {
        method: body === undefined ? "GET" : "POST", redirect: "error",
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      status = response.status;
      value = await response.json();
    } catch (error) {
      throw new StepServerUnreachable("the step server did not answer", { cause: error });
    }
    if (status === 200) return { ok: true, value: value as T };
    return { ok: false, status, ...problemOf(value, status) } as StepAnswer<T>;
  }
  const named = (kind: "tools" | "steps", name: string) => `/${kind}/${encodeURIComponent(name)}`;
  return {
    tool: (name, args, key) => call(named("tools", name), { args, ...(key === undefined ? {} : { key }) }),
    step: (name, input, result) => call(named("steps", name), { input, ...(result === undefined ? {} : { result }) }),
    observe: (observation) => call("/observations", observation),
    retrieval: (query, items) => call("/retrievals", { query, items }),
    usage: (usage) => call("/usage", usage),
    model: (made) => call("/model", made),
    reserve: (amounts) => call("/reserve", amounts),
    budget: () => call("/budget"),
    context: (tokensMax) => call(`/context?tokens=${tokensMax}`),
  };
}

function problemOf(value: unknown, status: number): { code: string; detail: string } {
  const { code, detail } = (value ?? {}) as { code?: unknown; detail?: unknown };
  return { code: typeof code === "string" ? code : "internal", detail: typeof detail === "string" ? detail : `the step server answered ${status}` };
}
