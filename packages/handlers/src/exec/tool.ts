import type { ToolAnswer, ToolCall } from "@loopledger/shared/core/effects/handling";
import { cutText, repairText } from "@loopledger/shared/core/json";
import type { ToolDefinition } from "../config/definitions.ts";
import type { HandlersDeps } from "../deps.ts";
import { notStarted } from "../inline/tool.ts";
import { readResult, retryAfterSeconds } from "../results/maker-result.ts";
import type { Ended } from "../supervisor/launch.ts";
import { type ExecEnd, runExec } from "./run.ts";

type ExecTool = Extract<ToolDefinition, { kind: "exec" }>;
interface CallLimits {
  readonly deps: HandlersDeps;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const resultBytesMax = 10 * 1024 * 1024;

/**
 * A tool that is a program: the arguments on stdin, key, session and epoch in its environment. Exit 0 is confirmed, with the JSON of
 * its result file or what it printed; 75 says that nothing happened; any other end is lost, and the contract decides.
 */
export async function callExecTool(definition: ExecTool, call: ToolCall, { deps, timeoutSeconds, signal }: CallLimits): Promise<ToolAnswer> {
  if (signal.aborted) return notStarted;
  const end = await runExec({
    definition, deps, sessionId: call.sessionId, epoch: call.epoch, kind: "tool", stdin: JSON.stringify(call.args), steps: null,
    engine: { LOOPLEDGER_IDEMPOTENCY_KEY: call.key, LOOPLEDGER_EPOCH: String(call.epoch) },
    resultVariable: "LOOPLEDGER_RESULT", resultBytesMax, timeoutSeconds, idleSeconds: null, signal,
  });
  return answerOf(end.ended, end, (deps.now ?? Date.now)());
}

function answerOf(ended: Ended, end: ExecEnd, nowMs: number): ToolAnswer {
  switch (ended.kind) {
    case "cannot_start":
      return { kind: "failed", class: ended.passing ? "transient" : "deterministic", result: { error: `the tool could not start: ${ended.errno} ${ended.message}` } };
    case "superseded":
      return notStarted;
    case "timeout":
    case "idle":
    case "stop":
    case "lost":
      return { kind: "lost", why: `the tool was ended before it answered (${ended.kind})` };
    case "exit":
      return exitOf(ended, end, nowMs);
    default:
      return ended satisfies never;
  }
}

function exitOf({ code, signal }: Extract<Ended, { kind: "exit" }>, { result, log }: ExecEnd, nowMs: number): ToolAnswer {
  if (code === 0) {
    // The effect took place: a result that cannot be read is told, and never turns it into a failure.
    if (result !== null) return { kind: "confirmed", result: result.ok ? result.value : { unreadable: result.why } };
    return { kind: "confirmed", result: log.tail.trim() === "" ? null : { output: repairText(log.tail) } };
  }
  if (code !== 75) return { kind: "lost", why: cutText(`the tool ended with ${signal ?? `exit code ${code}`}: ${log.tail.trim()}`, 4096) };
  const read = readResult(result?.ok ? result.value : undefined);
  const after = read.ok ? retryAfterSeconds(read.file, nowMs) : undefined;
  return { kind: "failed", class: "transient", result: { error: cutText(log.tail.trim(), 4096) }, ...(after === undefined ? {} : { retryAfterSeconds: after }) };
}
