/** `events ID`: the records of a session in order, and with --void those that were refused. */
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonRow } from "../reading/event-rows.ts";
import { wholeNumber } from "../reading/flags.ts";
import { withReader } from "../reading/open-reader.ts";
import { eventLine } from "../reading/record-line.ts";
import { untilInterrupted } from "../reading/interruption.ts";

interface Options { readonly after?: string; readonly follow?: boolean; readonly void?: boolean }

export const register: Register = (program, bind) => {
  program.command("events <id>").description("the accepted records of a session; --void shows the refused ones too, with the reason")
    .option("--after <seq>", "those after this cursor").option("--follow", "and those that come, until Ctrl-C").option("--void", "refused records too")
    .addHelpText("after", example("loopledger events fix-login --after 41 --follow --json"))
    .action(bind<Options>((context, [id = ""], options) => showEvents(context, id, options)));
};

function showEvents(context: CommandContext, id: string, options: Options): Promise<ExitCode> {
  const after = options.after === undefined ? 0 : wholeNumber(options.after, { flag: "--after" });
  const { print, json } = context;
  return withReader(context, (reader) => untilInterrupted(async (signal) => {
    const rows = reader.events(id, { after, refused: options.void ?? false, follow: options.follow ?? false, signal });
    for await (const row of rows) {
      if (json) print.row(jsonRow(row));
      else print.line(eventLine(row, print.paint));
    }
    return exitCodes.done;
  }));
}
