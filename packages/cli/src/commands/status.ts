/** `status ID`: the derived status of one session, exact as of the ledger. */
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { wholeNumber } from "../reading/flags.ts";
import { withReader } from "../reading/open-reader.ts";
import { waitForSeq } from "../reading/waiting.ts";

interface Options { readonly atLeast?: string; readonly exitCode?: boolean }

export const register: Register = (program, bind) => {
  program.command("status <id>").description("how a session stands: disposition, leaves, effects, verdict, budget, receipt")
    .option("--at-least <seq>", "wait a moment until this seq is reached, else fail with 8")
    .option("--exit-code", "leave with the code of the status: 0 done, 1 failed, 3 a person must act, 4 budget, 5 handed off, 6 cancelled, 8 running")
    .addHelpText("after", example("loopledger status fix-login", "loopledger status fix-login --json --at-least 41"))
    .action(bind<Options>((context, [id = ""], options) => showStatus(context, id, options)));
};

function showStatus(context: CommandContext, id: string, { atLeast, exitCode }: Options): Promise<ExitCode> {
  return withReader(context, async (reader) => {
    const seq = atLeast === undefined ? 0 : wholeNumber(atLeast, { flag: "--at-least" });
    const view = seq > 0 ? await waitForSeq(reader, id, seq) : await reader.status(id);
    if (context.json) context.print.json(view);
    else {
      const { statusBlock } = await import("../reading/status-text.ts");
      for (const line of statusBlock(view, context.print.paint)) context.print.line(line);
    }
    return exitCode ? exitCodeOf(view) : exitCodes.done;
  });
}
