import type { LookAnswer, ToolAnswer, ToolCall } from "@loopledger/shared/core/effects/handling";
import type { Target } from "../config/definitions.ts";
import { lookAnswer } from "../inline/tool.ts";
import { bodyOf, isStaleOwner, shown } from "./answer.ts";
import { Redactor } from "../results/redactor.ts";
import { VariableMissing, expanded, secretsOf } from "./expand.ts";
import { type Answered, type ExchangeEnd, exchange } from "./request.ts";
import { retryAfter } from "./retry-after.ts";

export interface CallLimits {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
}

/** POST of the arguments under the key. 2xx is confirmed, 4xx did not happen, anything else is lost and the tool's contract decides. */
export async function callHttpTool(target: Target, call: ToolCall, limits: CallLimits): Promise<ToolAnswer> {
  const end = await ask(target, call, { ...limits, method: "POST", body: JSON.stringify(call.args) });
  switch (end.kind) {
    case "not_sent":
      return { kind: "failed", class: end.permanent ? "deterministic" : "transient", result: { error: end.why } };
    case "lost":
      return { kind: "lost", why: end.why };
    case "answered":
      return answerOf(end, { nowMs: limits.nowMs(), redactor: new Redactor(secretsOf(target, limits.environment)) });
    default:
      return end satisfies never;
  }
}

function answerOf(answered: Answered, { nowMs, redactor }: { nowMs: number; redactor: Redactor }): ToolAnswer {
  const { status } = answered;
  const result = redactor.json(bodyOf(answered));
  if (status >= 200 && status < 300) return { kind: "confirmed", result };
  if (isStaleOwner(answered, result)) return { kind: "refused", result };
  if (status === 408 || status === 429) {
    const wait = retryAfter(answered.headers["retry-after"], nowMs);
    return { kind: "failed", class: "transient", result: { status, answer: result }, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
  }
  // 307 and 308 ask for the call to be made elsewhere, and it was not; other redirects may well come after the effect.
  if (status === 307 || status === 308 || (status >= 400 && status < 500)) return { kind: "failed", class: "deterministic", result: { status, answer: result } };
  return { kind: "lost", why: `the target answered ${status}: ${redactor.text(shown(answered))}` };
}

/** GET with the key and the same headers. What cannot be understood is unknown, never `did_not_happen`. */
export async function lookByHttp(target: Target, call: ToolCall, limits: CallLimits): Promise<LookAnswer> {
  const end = await ask(target, call, { ...limits, method: "GET" });
  if (end.kind !== "answered") return { status: "unknown", evidence: { why: end.why } };
  const redactor = new Redactor(secretsOf(target, limits.environment));
  if (end.status >= 200 && end.status < 300) return lookAnswer(redactor.json(bodyOf(end)));
  return { status: "unknown", evidence: { why: `the look-up answered ${end.status}`, answer: redactor.text(shown(end)) } };
}

type Asked = CallLimits & { readonly method: "GET" | "POST"; readonly body?: string };
async function ask(target: Target, call: ToolCall, asked: Asked): Promise<ExchangeEnd> {
  try {
    const { url, headers } = expanded(target, { environment: asked.environment, key: call.key });
    return await exchange({
      method: asked.method, url, body: asked.body, signal: asked.signal, timeoutSeconds: target.timeoutSeconds ?? asked.timeoutSeconds,
      headers: {
        accept: "application/json", ...(asked.body === undefined ? {} : { "content-type": "application/json" }), ...headers,
        "idempotency-key": headerText(call.key), "loopledger-session": call.sessionId, "loopledger-epoch": String(call.epoch),
      },
    });
  } catch (error) {
    if (error instanceof VariableMissing) return { kind: "not_sent", why: error.message, permanent: true };
    throw error;
  }
}

/** A header carries visible ASCII only: a key with anything else is percent-encoded. */
function headerText(key: string): string {
  return /^[\x21-\x7e]+$/.test(key) ? key : encodeURIComponent(key);
}
