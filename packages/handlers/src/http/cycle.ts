/** A maker or a check behind HTTP: POST of its input, and the answer is what its file would hold. */
import type { CheckRun, CheckTask, CycleEnd, MakerTask } from "@loopledger/shared/core/effects/handling";
import { cutText, repairText } from "@loopledger/shared/core/json";
import type { Target } from "../config/definitions.ts";
import { fingerprintOf } from "../results/fingerprint.ts";
import { Redactor } from "../results/redactor.ts";
import { makerResult, readResult } from "../results/maker-result.ts";
import { inconclusive, readValidation } from "../results/validation.ts";
import { bodyOf, shown } from "./answer.ts";
import { VariableMissing, expanded, secretsOf } from "./expand.ts";
import { type Answered, type ExchangeEnd, exchange } from "./request.ts";
import { retryAfter } from "./retry-after.ts";
import type { CallLimits } from "./tool.ts";

type MakerLimits = CallLimits & { readonly effects: "workspace" | "external" };

export async function runHttpMaker(target: Target, task: MakerTask, limits: MakerLimits): Promise<CycleEnd> {
  const end = await post(target, JSON.stringify(task.input), { ...limits, headers: { "idempotency-key": encodeURIComponent(task.idempotencyKey), "loopledger-session": task.sessionId, "loopledger-epoch": String(task.epoch) } });
  if (limits.signal.aborted) return { kind: "stopped" };
  // Of a maker with effects outside, only an answer that proves that nothing happened lets it run again.
  const ambiguous = limits.effects === "external" ? "deterministic" : "transient";
  switch (end.kind) {
    case "not_sent":
      return end.permanent ? failed("deterministic", "cannot_start", end.why) : failed("transient", "maker_unreachable", end.why);
    case "lost":
      return failed(ambiguous, "maker_connection", end.why);
    case "answered":
      return makerAnswer(end, { ambiguous, nowMs: limits.nowMs(), redactor: new Redactor(secretsOf(target, limits.environment)) });
    default:
      return end satisfies never;
  }
}

interface Reading {
  readonly ambiguous: "transient" | "deterministic";
  readonly nowMs: number;
  readonly redactor: Redactor;
}
function makerAnswer(answered: Answered, { ambiguous, nowMs, redactor }: Reading): CycleEnd {
  const { status } = answered;
  if (status >= 200 && status < 300) {
    const read = readResult(redactor.json(bodyOf(answered)));
    return read.ok ? { kind: "built", result: makerResult(read.file, "") } : failed("deterministic", "maker_result_unreadable", read.why);
  }
  const message = `the maker answered ${status}: ${redactor.text(shown(answered))}`;
  const wait = retryAfter(answered.headers["retry-after"], nowMs);
  const kind = status === 408 || status === 429 ? "transient" : status >= 500 ? ambiguous : "deterministic";
  return { ...failed(kind, `maker_http_${status}`, message), ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

export async function runHttpCheck(target: Target, task: CheckTask, limits: CallLimits): Promise<CheckRun> {
  const end = await post(target, JSON.stringify(task.input), { ...limits, headers: { "loopledger-session": task.sessionId } });
  if (limits.signal.aborted) return inconclusive("told to stop", { verdict: "STOPPED" });
  if (end.kind !== "answered") return inconclusive(`the check did not answer: ${end.why}`);
  const redactor = new Redactor(secretsOf(target, limits.environment));
  if (end.status < 200 || end.status >= 300) return inconclusive(`the check answered ${end.status}`, { output: redactor.text(shown(end)) });
  return readValidation(redactor.json(bodyOf(end)));
}

async function post(
  target: Target, body: string, limits: CallLimits & { readonly headers: Readonly<Record<string, string>> },
): Promise<ExchangeEnd> {
  try {
    const { url, headers } = expanded(target, limits);
    return await exchange({
      method: "POST", url, body, signal: limits.signal, timeoutSeconds: limits.timeoutSeconds,
      headers: { accept: "application/json", "content-type": "application/json", ...headers, ...limits.headers },
    });
  } catch (error) {
    if (error instanceof VariableMissing) return { kind: "not_sent", why: error.message, permanent: true };
    throw error;
  }
}

function failed(failure: "transient" | "deterministic", code: string, message: string): Extract<CycleEnd, { kind: "failed" }> {
  const text = cutText(repairText(message), 4096);
  return { kind: "failed", failure, code, message: text, fingerprint: fingerprintOf(code, text) };
}
