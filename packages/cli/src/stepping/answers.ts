/** Answers of the step server on the command line: JSON on stdout, or a sentence and a code of its own for each refusal. */
import { problemNext } from "@loopledger/handlers/steps/problem";
import type { StepAnswer } from "@loopledger/shared/core/effects/handling";
import type { CommandContext } from "../context.ts";
import { CliError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";

/** Exit codes of `loopledger step`, by the code of the refusal. */
const stepExitCodes = {
  approval_pending: 10,
  incomplete_tool_turn: 11,
  stale_owner: 12,
  key_conflict: 13,
  unknown_tool: 14,
  budget_exhausted: 15,
} as const;

export const stepCodesHelp = [
  "Exit codes:",
  "  0   answered; the answer is JSON on stdout",
  "  2   bad input",
  "  7   the step server does not answer: this is not inside a running maker or check",
  "  10  approval_pending (423): leave now; after the decision the step runs again and the same call returns its result",
  "  11  incomplete_tool_turn (424): leave now; a person settles what became of the call",
  "  12  stale_owner (409): leave now; this run is over or its session has another owner",
  "  13  key_conflict (409): the key was used with other arguments",
  "  14  unknown_tool (404): no such tool is registered, or this is a check",
  "  15  budget_exhausted (409): leave now; the session waits for a raise",
].map((line) => `${line}\n`).join("");

export function showAnswer<T>({ print }: CommandContext, answer: StepAnswer<T>): ExitCode {
  if (answer.ok) {
    print.json(answer.value);
    return exitCodes.done;
  }
  const code: string = answer.code;
  const exitCode = code in stepExitCodes ? stepExitCodes[code as keyof typeof stepExitCodes] : answer.status === 400 ? exitCodes.usage : exitCodes.failed;
  const next = code in problemNext ? problemNext[code as keyof typeof problemNext] : "see the routes of the step protocol";
  throw new CliError(code, `${code} (${answer.status}): ${answer.detail}`, { exitCode, next: `${next[0]?.toUpperCase()}${next.slice(1)}.` });
}
