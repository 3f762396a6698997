/** `wait ID`: until the session has ended, or waits for a person or a budget. */
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { seconds } from "../reading/flags.ts";
import { withReader } from "../reading/open-reader.ts";
import { statusBlock, standingText } from "../reading/status-text.ts";
import { untilAtRest, watchUntil } from "../reading/waiting.ts";

interface Options { readonly timeout?: string }
export interface Waiting {
  /** Null = no end. */
  readonly timeoutMs: number | null;
  readonly tell: (line: string) => void;
}

export const register: Register = (program, bind) => {
  program.command("wait <id>").description("until a session has ended, or waits for a person or a budget; leaves with the code of its status")
    .option("--timeout <seconds>", "leave with 8 when the time is over")
    .addHelpText("after", example("loopledger wait fix-login --timeout 600 && echo done"))
    .action(bind<Options>((context, [id = ""], { timeout }) =>
      waitForRest(context, id, { timeoutMs: timeout === undefined ? null : seconds(timeout, "--timeout") * 1000, tell: context.print.line })));
};

/** Follows the session to its rest and says how it stands; 8 where the time is over first. `tell` gets the lines for people. */
export function waitForRest(context: CommandContext, id: string, { timeoutMs, tell }: Waiting): Promise<ExitCode> {
  const { print, json } = context;
  return withReader(context, async (reader) => {
    let told = "";
    const { view, reached } = await watchUntil(reader, id, {
      timeoutMs, until: untilAtRest,
      onward: (now) => {
        const text = `${now.sessionId}  ${standingText(now, (_style, plain) => plain)}, iteration ${now.iteration}${now.active ? `, ${now.active}` : ""}`;
        if (text !== told) print.note(text);
        told = text;
      },
    });
    if (json) print.json(view);
    else for (const line of statusBlock(view, print.paint)) tell(line);
    return reached ? exitCodeOf(view) : exitCodes.running;
  });
}
