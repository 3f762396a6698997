import type { CycleEnd, MakerTask } from "@loopledger/shared/core/effects/handling";
import { cutText, repairText } from "@loopledger/shared/core/json";
import type { Running } from "@loopledger/shared/ports";
import type { MakerDefinition } from "../config/definitions.ts";
import { fingerprintOf } from "../results/fingerprint.ts";
import { makerResult, readResult, retryAfterSeconds } from "../results/maker-result.ts";
import { waitOf, waitUntil } from "../results/waiting.ts";
import { stepGate } from "../steps/gate.ts";
import { StepRefused } from "./functions.ts";
import { runFunction } from "./run.ts";
import { asJson, makerTask } from "./task.ts";

type FnMaker = Extract<MakerDefinition, { kind: "fn" }>;

/** A maker that is a function. What it returns is what a result file holds; a text is the summary. */
export async function runFnMaker(definition: FnMaker, task: MakerTask, running: Running & { timeoutSeconds: number; nowMs: () => number }): Promise<CycleEnd> {
  const gate = stepGate(task.steps, { tools: true });
  const settled = await runFunction(
    (told) => definition.fn(makerTask(task, { gate, told })),
    { timeoutSeconds: running.timeoutSeconds, signal: running.signal },
  );
  gate.close();
  const left = gate.left();
  if (settled.kind === "stopped" || left === "stopped") return { kind: "stopped" };
  if (left === "suspended") return { kind: "suspended" };
  switch (settled.kind) {
    case "timeout":
      return failure("deterministic", "maker_timeout", `the maker did not end within ${running.timeoutSeconds} s`);
    case "threw":
      return thrown(settled.error, running.nowMs());
    case "returned":
      return returned(settled.value, running.nowMs());
    default:
      return settled satisfies never;
  }
}

function returned(value: unknown, nowMs: number): CycleEnd {
  let json: ReturnType<typeof asJson>;
  try {
    json = asJson(typeof value === "string" ? { summary: value } : value);
  } catch (error) {
    return failure("deterministic", "maker_result_unreadable", `what the maker returned is no JSON: ${messageOf(error)}`);
  }
  const read = readResult(json);
  if (!read.ok) return failure("deterministic", "maker_result_unreadable", `what the maker returned does not fit: ${read.why}`);
  if (read.file.failure) {
    const after = retryAfterSeconds(read.file, nowMs);
    return {
      ...failure(read.file.failure, "maker_failed", read.file.error ?? read.file.summary ?? "the maker says that it failed"),
      ...(after === undefined ? {} : { retryAfterSeconds: after }), ...(read.file.usage ? { usage: read.file.usage } : {}),
    };
  }
  return { kind: "built", result: makerResult(read.file, "") };
}

function thrown(error: unknown, nowMs: number): CycleEnd {
  const { transient, retryAfterSeconds: after, retryAt } = (error ?? {}) as { transient?: unknown; retryAfterSeconds?: unknown; retryAt?: unknown };
  const wait = waitOf(after) ?? (typeof retryAt === "number" && !Number.isNaN(retryAt) ? waitUntil(retryAt, nowMs) : undefined);
  const code = error instanceof StepRefused ? error.code : "maker_threw";
  return {
    ...failure(transient === true || wait !== undefined ? "transient" : "deterministic", code, messageOf(error)),
    ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
  };
}

function failure(kind: "transient" | "deterministic", code: string, message: string): Extract<CycleEnd, { kind: "failed" }> {
  const text = cutText(repairText(message), 4096);
  return { kind: "failed", failure: kind, code, message: text, fingerprint: fingerprintOf(code, text) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : String(error);
}
