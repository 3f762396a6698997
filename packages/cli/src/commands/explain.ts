/** `explain ID`: the six answers, each with the seq it rests on, why the session stands still, and what to type. */
import type { Explanation } from "@loopledger/shared/core/session/explain";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { wholeNumber } from "../reading/flags.ts";
import { plain } from "../reading/plain.ts";
import { withReader } from "../reading/open-reader.ts";
import { standingText } from "../reading/status-text.ts";
import { nextHere } from "../story/standing.ts";

interface Options { readonly at?: string }

export const register: Register = (program, bind) => {
  program.command("explain <id>").description("what goal, which steps, which effects, what evidence, what budget, active or not; and why it stands still")
    .option("--at <seq>", "as it was when this record had just been accepted")
    .addHelpText("after", example("loopledger explain fix-login", "loopledger explain fix-login --at 12 --json"))
    .action(bind<Options>((context, [id = ""], { at }) => explainSession(context, id, at === undefined ? null : wholeNumber(at, { flag: "--at", least: 1 }))));
};

function explainSession(context: CommandContext, id: string, at: number | null): Promise<ExitCode> {
  return withReader(context, async (reader) => {
    const explanation = await reader.explain(id, at);
    if (context.json) context.print.json(explanation);
    else print(context, { ...plain(explanation), next: nextHere(context, id, explanation.next) });
    return exitCodes.done;
  });
}

const questions = [
  ["goal", "What goal?"], ["steps", "Which steps are complete?"], ["effects", "Which effects are confirmed?"], ["evidence", "What evidence?"],
  ["budget", "What budget remains?"], ["active", "Is it active?"],
] as const;

function print({ print: { line, paint } }: CommandContext, explanation: Explanation): void {
  line(`${paint("bold", explanation.sessionId)}  ${standingText(explanation, paint)}  ${paint("dim", `as of seq ${explanation.asOf}`)}`);
  for (const [question, text] of questions) {
    const { text: answer, seq } = explanation.answers[question];
    line(`  ${paint("bold", text.padEnd(28))} ${answer || "no limits"}  ${paint("dim", `(seq ${seq})`)}`);
  }
  line("");
  line(`  ${explanation.why}`);
  line(`  ${paint("cyan", explanation.next)}`);
}
