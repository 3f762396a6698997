import type { CheckRun, CheckTask } from "@loopledger/shared/core/effects/handling";
import { tailText } from "@loopledger/shared/core/json";
import { couldNotStartWords } from "@loopledger/shared/core/session/explain-text";
import type { Running } from "@loopledger/shared/ports";
import { type CheckDefinition, defaultSeconds } from "../config/definitions.ts";
import type { HandlersDeps } from "../deps.ts";
import { fingerprintOf } from "../results/fingerprint.ts";
import { saying } from "../results/last-line.ts";
import { inconclusive, nextStepOf, readValidation, validationBytesMax } from "../results/validation.ts";
import type { Ended } from "../supervisor/launch.ts";
import { type ExecEnd, runExec, whyNotStarted } from "./run.ts";

type ExecCheck = Extract<CheckDefinition, { kind: "exec" }>;
type CannotStart = Extract<Ended, { kind: "cannot_start" }>;
interface CheckLimits {
  readonly deps: HandlersDeps;
  readonly timeoutSeconds: number;
  readonly running: Running;
}

/** How much of what a check printed stands in its evidence. */
const evidenceMax = 4000;

/** Runs a check that is a program: its validation file speaks where it wrote one, else its exit code. */
export async function runExecCheck(definition: ExecCheck, task: CheckTask, { deps, timeoutSeconds, running }: CheckLimits): Promise<CheckRun> {
  const end = await runExec({
    definition, deps, sessionId: task.sessionId, epoch: task.epoch ?? 0, kind: "cycle", stdin: JSON.stringify(task.input), engine: {},
    resultVariable: "LOOPLEDGER_VALIDATION", resultBytesMax: validationBytesMax, steps: { api: task.steps, tools: false },
    timeoutSeconds, idleSeconds: definition.idleSeconds ?? null, signal: running.signal, live: running.live,
  });
  if (end.left === "stopped") return { ...inconclusive("its session has another owner", { verdict: "STOPPED" }), log: end.log };
  const limits = {
    timeoutSeconds, idleSeconds: definition.idleSeconds ?? defaultSeconds.idle,
    notStarted: (ended: CannotStart) => whyNotStarted(definition, ended, deps.folder),
  };
  return { ...verdictOf(end, task, limits), log: end.log };
}

function verdictOf(end: ExecEnd, task: CheckTask, limits: { timeoutSeconds: number; idleSeconds: number; notStarted: (ended: CannotStart) => string }): CheckRun {
  const { ended } = end;
  const output = tailText(end.log.tail, evidenceMax);
  switch (ended.kind) {
    case "stop":
    case "superseded":
      return inconclusive("told to stop", { verdict: "STOPPED" });
    case "timeout":
      return inconclusive(`the check did not end within ${limits.timeoutSeconds} s`, { output });
    case "idle":
      return inconclusive(`the check printed nothing for ${limits.idleSeconds} s`, { output });
    case "cannot_start":
      return inconclusive(`${couldNotStartWords}: ${limits.notStarted(ended)}`, ended.passing ? { shortOf: ended.errno } : { cannotStart: true });
    case "lost":
      return inconclusive("the check's supervisor was killed, and the check with it", { output });
    case "exit":
      return exitOf(ended, { end, task, output });
    default:
      return ended satisfies never;
  }
}

function exitOf(exit: Extract<Ended, { kind: "exit" }>, told: { end: ExecEnd; task: CheckTask; output: string }): CheckRun {
  const { end, task, output } = told;
  const { code, signal } = exit;
  if (code === null) return inconclusive(`the check was ended by ${signal ?? "a signal"}${saying(end.log.tail)}`, { output });
  // 126 and 127 are a shell's words for a program that is missing or cannot be run.
  if (code === 126 || code === 127) return inconclusive(`${couldNotStartWords}: exit code ${code}${saying(end.log.tail)}`, { output, cannotStart: true });
  if (code === 75 || code >= 124) return inconclusive(`the check ended with exit code ${code}${saying(end.log.tail)}`, { output });
  if (end.result !== null) {
    return end.result.ok ? readValidation(end.result.value) : inconclusive(`the file that LOOPLEDGER_VALIDATION names is ${end.result.why}`, { output });
  }
  const evidence = { exitCode: code, output };
  const common = { evidence, revision: null, cannotStart: false, usage: {} };
  if (code === 0) return { verdict: "PASS", nextSteps: [], ...common };
  return { verdict: "FAIL", nextSteps: [nextStepOf(task.title, output)], ...common, fingerprint: fingerprintOf(`check_exit_${code}`, end.log.tail) };
}
