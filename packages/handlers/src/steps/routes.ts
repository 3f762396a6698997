/** The routes of the step protocol: what each takes, and which call of the claim's step API it is. */
import type { StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";
import { amounts, digest, json, key, text, usage } from "@loopledger/shared/core/events/fields";
import type { Json } from "@loopledger/shared/core/json";
import { z } from "zod";

export interface StepRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed body; undefined where the request has none. */
  readonly body: Json | undefined;
}
export type Routed =
  | { readonly kind: "answer"; readonly answer: Promise<StepAnswer<unknown>> }
  | { readonly kind: "bad"; readonly detail: string }
  | { readonly kind: "not_found" }
  | { readonly kind: "method"; readonly allow: "GET" | "POST" };

const toolBody = z.strictObject({ args: json.default({}), key: key.optional() });
const stepBody = z.strictObject({ input: json.default(null), result: json.optional() });
const observationBody = z.strictObject({
  scope: text(512).min(1), query: json.optional(), observedAt: text(64).min(1),
  pagination: z.strictObject({ page: z.int().min(0), pages: z.int().min(0).optional(), complete: z.boolean() }).optional(),
  revision: text(512).nullable().optional(),
  outcome: z.enum(["observed", "observed_empty", "partial", "stale", "failed"]),
  items: z.array(json).max(100_000).default([]),
});
const retrievalBody = z.strictObject({
  query: text(65_536), items: z.array(z.strictObject({ id: text(512).min(1), digest })).max(10_000),
});
const modelBody = z.record(z.string(), json);
const stepName = text(128).min(1);
const tokens = z.coerce.number().int().min(1).max(100_000_000);

type Handle = (api: StepApi, request: StepRequest, name: string) => Routed;

/** Reads a body by its schema; the call is made only where it fits. */
function post<S extends z.ZodType>(schema: S, call: (api: StepApi, body: z.output<S>, name: string) => Promise<StepAnswer<unknown>>): Handle {
  return (api, request, name) => {
    const parsed = schema.safeParse(request.body ?? {});
    if (parsed.success) return { kind: "answer", answer: call(api, parsed.data, name) };
    return { kind: "bad", detail: parsed.error.issues.slice(0, 3).map((i) => `${i.path.map(String).join(".") || "body"}: ${i.message}`).join("; ") };
  };
}

const routes: Readonly<Record<string, { readonly method: "GET" | "POST"; readonly named?: true; readonly handle: Handle }>> = {
  tools: { method: "POST", named: true, handle: post(toolBody, (api, body, name) => api.tool(name, body.args, body.key)) },
  steps: { method: "POST", named: true, handle: post(stepBody, (api, body, name) => api.step(name, body.input, body.result)) },
  observations: { method: "POST", handle: post(observationBody, (api, body) => api.observe(body)) },
  retrievals: { method: "POST", handle: post(retrievalBody, (api, body) => api.retrieval(body.query, body.items)) },
  usage: { method: "POST", handle: post(usage, (api, body) => api.usage(body)) },
  model: { method: "POST", handle: post(modelBody, (api, body) => api.model(body)) },
  reserve: { method: "POST", handle: post(amounts, (api, body) => api.reserve(body)) },
  budget: { method: "GET", handle: (api) => ({ kind: "answer", answer: api.budget() }) },
  context: {
    method: "GET",
    handle: (api, request) => {
      const asked = tokens.safeParse(request.query.get("tokens"));
      return asked.success ? { kind: "answer", answer: api.context(asked.data) } : { kind: "bad", detail: "tokens must be a whole number from 1" };
    },
  },
};

export function route(api: StepApi, request: StepRequest): Routed {
  const [, head = "", tail, ...rest] = request.path.split("/");
  const found = Object.hasOwn(routes, head) ? routes[head] : undefined;
  if (!found || rest.length > 0 || (tail !== undefined) !== (found.named === true)) return { kind: "not_found" };
  if (request.method !== found.method) return { kind: "method", allow: found.method };
  if (tail === undefined) return found.handle(api, request, "");
  const name = stepName.safeParse(decoded(tail));
  return name.success ? found.handle(api, request, name.data) : { kind: "bad", detail: "the name in the path is not 1 to 128 whole characters" };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
