/** The step protocol from the other side: what `loopledger step …` and any program under Node speaks. */
import type { StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";
import { exchange } from "./http/request.ts";

export interface StepClientOptions {
  /** `LOOPLEDGER_STEP_URL` */
  readonly url: string;
  /** `LOOPLEDGER_STEP_TOKEN` */
  readonly token: string;
  /** Instead of Node's own client, which waits for as long as a tool takes. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The step server cannot be reached, or what answers there is no step server. */
export class StepServerUnreachable extends Error {
  readonly code = "step_server_unreachable";
  readonly next = "run this inside a maker or check of a running session; LOOPLEDGER_STEP_URL and LOOPLEDGER_STEP_TOKEN are set there";
}

type Send = (url: string, body: string | undefined) => Promise<{ readonly status: number; readonly text: string }>;

export function stepClient({ url, token, fetch }: StepClientOptions): StepApi {
  const send = fetch === undefined ? byNode(token) : byFetch(token, fetch);
  async function call<T>(path: string, body?: unknown): Promise<StepAnswer<T>> {
    let status: number;
    let value: unknown;
    try {
      const answer = await send(new URL(path, url).href, body === undefined ? undefined : JSON.stringify(body));
      status = answer.status;
      value = JSON.parse(answer.text);
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

function headersOf(token: string, body: string | undefined): Record<string, string> {
  return { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
}

function byNode(token: string): Send {
  return async (url, body) => {
    const end = await exchange({
      method: body === undefined ? "GET" : "POST", url, body, headers: headersOf(token, body),
      timeoutSeconds: Number.POSITIVE_INFINITY, signal: new AbortController().signal,
    });
    if (end.kind !== "answered") throw new Error(end.why);
    return { status: end.status, text: end.body.toString("utf8") };
  };
}

function byFetch(token: string, fetch: typeof globalThis.fetch): Send {
  return async (url, body) => {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST", redirect: "error", headers: headersOf(token, body), ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, text: await response.text() };
  };
}

function problemOf(value: unknown, status: number): { code: string; detail: string } {
  const { code, detail } = (value ?? {}) as { code?: unknown; detail?: unknown };
  return { code: typeof code === "string" ? code : "internal", detail: typeof detail === "string" ? detail : `the step server answered ${status}` };
}
