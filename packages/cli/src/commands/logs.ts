/** `logs ID`: what maker and check printed. */
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { wholeNumber } from "../reading/flags.ts";
import { untilInterrupted } from "../reading/interruption.ts";
import { type LogPart, logParts } from "../reading/logs.ts";
import { withReader } from "../reading/open-reader.ts";

interface Options { readonly iteration?: string; readonly follow?: boolean }

export const register: Register = (program, bind) => {
  program.command("logs <id>").description("what maker and check printed")
    .option("--iteration <n>", "of this iteration only; 0 is the check before any work").option("--follow", "and what comes, until Ctrl-C")
    .addHelpText("after", example("loopledger logs fix-login --iteration 3", "loopledger logs fix-login --follow"))
    .action(bind<Options>((context, [id = ""], options) => showLogs(context, id, options)));
};

function showLogs(context: CommandContext, id: string, options: Options): Promise<ExitCode> {
  const iteration = options.iteration === undefined ? null : wholeNumber(options.iteration, { flag: "--iteration" });
  return withReader(context, (reader) => untilInterrupted(async (signal) => {
    const rows = reader.events(id, { after: 0, refused: false, follow: options.follow ?? false, signal });
    for await (const part of logParts(reader, id, rows)) {
      if (iteration === null || part.iteration === iteration) show(context, part);
    }
    return exitCodes.done;
  }));
}

function show({ json, print }: CommandContext, part: LogPart): void {
  if (json) {
    print.row({ ...part, cursor: part.seq });
    return;
  }
  const leaf = part.leaf === "goal" ? "" : ` of ${part.leaf}`;
  print.line(print.paint("dim", `── iteration ${part.iteration}${leaf}: ${part.source} ${part.by}, ${part.outcome} (seq ${part.seq}) ──`));
  if (!part.whole) print.line(print.paint("yellow", `… ${part.bytes} bytes were printed; these are the last of them`));
  if (part.text !== "") print.line(part.text.replace(/\n$/, ""));
}
