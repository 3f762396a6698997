import type { CycleEnd, MakerTask } from "@loopledger/shared/core/effects/handling";
import type { CycleLog } from "@loopledger/shared/core/events/fields";
import { cutText } from "@loopledger/shared/core/json";
import type { Running } from "@loopledger/shared/ports";
import { type MakerDefinition, defaultSeconds } from "../config/definitions.ts";
import type { HandlersDeps } from "../deps.ts";
import { fingerprintOf } from "../results/fingerprint.ts";
import { lastLine, saying } from "../results/last-line.ts";
import { type ResultFile, makerResult, readResult, retryAfterSeconds } from "../results/maker-result.ts";
import type { Ended } from "../supervisor/launch.ts";
import { type ExecEnd, runExec, whyNotStarted } from "./run.ts";

type ExecMaker = Extract<MakerDefinition, { kind: "exec" }>;
type Failed = Extract<CycleEnd, { kind: "failed" }>;

const resultBytesMax = 1_048_576;

export interface MakerRun {
  readonly deps: HandlersDeps;
  readonly timeoutSeconds: number;
  readonly running: Running;
}

/** Runs a maker that is a program. Its exit code speaks; its result file may say more. */
export async function runExecMaker(definition: ExecMaker, task: MakerTask, { deps, timeoutSeconds, running }: MakerRun): Promise<CycleEnd> {
  const text = textOf(task);
  const end = await runExec({
    definition, deps, sessionId: task.sessionId, epoch: task.epoch, kind: "cycle",
    stdin: definition.stdin === "prompt" ? text : JSON.stringify(task.input), prompt: text,
    engine: { LOOPLEDGER_TASK: text, LOOPLEDGER_IDEMPOTENCY_KEY: task.idempotencyKey },
    resultVariable: "LOOPLEDGER_RESULT", resultBytesMax, steps: { api: task.steps, tools: true },
    timeoutSeconds, idleSeconds: definition.idleSeconds ?? defaultSeconds.idle, signal: running.signal, live: running.live,
  });
  const { log } = end;
  if (end.left === "stopped" || end.ended.kind === "stop" || end.ended.kind === "superseded") return { kind: "stopped" };
  if (end.left === "suspended") return { kind: "suspended", log };
  return endOf(end.ended, {
    end, external: definition.effects === "external", timeoutSeconds, idleSeconds: definition.idleSeconds ?? defaultSeconds.idle, nowMs: (deps.now ?? Date.now)(),
    notStarted: (ended) => whyNotStarted(definition, ended, deps.folder),
  });
}

/** The task as text, and behind it what people advise: programs that read no JSON are told of it, too. */
function textOf({ task, input }: MakerTask): string {
  const { guidance } = (input["context"] ?? {}) as { readonly guidance?: readonly string[] };
  return guidance === undefined || guidance.length === 0 ? task : `${task}\n\nAdvice from people:\n${guidance.map((advice) => `- ${advice}`).join("\n")}`;
}

interface Reading {
  readonly end: ExecEnd;
  readonly external: boolean;
  readonly timeoutSeconds: number;
  readonly idleSeconds: number;
  readonly nowMs: number;
  readonly notStarted: (ended: Extract<Ended, { kind: "cannot_start" }>) => string;
}

function endOf(ended: Exclude<Ended, { kind: "never" }>, reading: Reading): CycleEnd {
  const { log } = reading.end;
  switch (ended.kind) {
    case "timeout":
      return failed("maker_timeout", `the maker did not end within ${reading.timeoutSeconds} s`, log);
    case "idle":
      return failed("maker_idle", `the maker printed nothing for ${reading.idleSeconds} s`, log);
    case "cannot_start":
      return { ...failed("cannot_start", `the maker could not start: ${reading.notStarted(ended)}`, log), failure: ended.passing ? "transient" : "deterministic" };
    case "lost":
      return { ...failed("supervisor_lost", "the maker's supervisor was killed, and the maker with it", log), failure: reading.external ? "deterministic" : "transient" };
    case "exit":
      return exitOf(ended, reading);
    case "stop":
    case "superseded":
      return { kind: "stopped" };
    default:
      return ended satisfies never;
  }
}

function exitOf(exit: Extract<Ended, { kind: "exit" }>, { end, external, nowMs }: Reading): CycleEnd {
  const { log, result } = end;
  const read = result === null ? readResult(undefined) : result.ok ? readResult(result.value) : result;
  if (!read.ok && exit.code === 0) return failed("maker_result_unreadable", `the file that LOOPLEDGER_RESULT names is unreadable: ${read.why}`, log);
  const file: ResultFile = read.ok ? read.file : {};
  if (exit.code === 0 && !file.failure) return { kind: "built", result: makerResult(file, lastLine(log.tail)), log };
  const code = exit.signal === null ? `maker_exit_${exit.code}` : `maker_signal_${exit.signal}`;
  const how = exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`;
  const message = file.error ?? `the maker ${how}${saying(log.tail)}`;
  const after = retryAfterSeconds(file, nowMs);
  return {
    ...failed(code, message, log), failure: isTransient(exit.code, { file, external }) ? "transient" : "deterministic",
    ...(after === undefined ? {} : { retryAfterSeconds: after }), ...(file.usage ? { usage: file.usage } : {}),
  };
}

/** Of a maker with effects outside, only 75 says that nothing happened. */
function isTransient(code: number | null, { file, external }: { file: ResultFile; external: boolean }): boolean {
  if (code === 75) return external || file.failure !== "deterministic";
  return !external && file.failure === "transient";
}

function failed(code: string, message: string, log: CycleLog): Failed {
  return { kind: "failed", failure: "deterministic", code, message: cutText(message, 4096), fingerprint: fingerprintOf(code, log.tail), log };
}
