/** `budget ID`: raises ceilings. What is used up holds a session back until somebody does. */
import { perform } from "../acts/perform.ts";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { withReader } from "../reading/open-reader.ts";

interface Options { readonly iterations?: string; readonly cost?: string; readonly tokens?: string; readonly wallSeconds?: string }

export const register: Register = (program, bind) => {
  program.command("budget <id>").description("raises the budget of a session; without an amount it shows what is left")
    .option("--iterations <+n>", "so many iterations more").option("--cost <+usd>", "so many US dollars more")
    .option("--tokens <+n>", "so many tokens more").option("--wall-seconds <+s>", "so much running time more")
    .addHelpText("after", example("loopledger budget fix-login --iterations +5 --cost +2.50"))
    .action(bind<Options>((context, [id = ""], options) => raise(context, id, options)));
};

function raise(context: CommandContext, id: string, options: Options): Promise<ExitCode> {
  const data = {
    ...more(options.iterations, { flag: "--iterations", name: "iterations", whole: true }), ...more(options.cost, { flag: "--cost", name: "costUsd", whole: false }),
    ...more(options.tokens, { flag: "--tokens", name: "tokens", whole: true }), ...more(options.wallSeconds, { flag: "--wall-seconds", name: "wallSeconds", whole: false }),
  };
  if (Object.keys(data).length === 0) return show(context, id);
  return perform(context, id, { draft: { type: "budget_raised", data }, sentence: `The budget is raised: ${Object.entries(data).map(([name, by]) => `${name} +${by}`).join(", ")}.` });
}

function more(text: string | undefined, { flag, name, whole }: { readonly flag: string; readonly name: string; readonly whole: boolean }): Record<string, number> {
  if (text === undefined) return {};
  const pattern = whole ? /^\+?\d{1,12}$/ : /^\+?\d{1,12}(\.\d{1,6})?$/;
  const value = Number(text);
  if (!pattern.test(text) || !(value > 0)) throw new UsageError(`${flag} takes what is added, as +5, not "${text}".`, { next: "A budget is only ever raised." });
  return { [name]: value };
}

function show(context: CommandContext, id: string): Promise<ExitCode> {
  return withReader(context, async (reader) => {
    const { budget } = await reader.status(id);
    if (context.json) context.print.json(budget);
    else {
      const { budgetText } = await import("@loopledger/shared/core/session/explain-text");
      context.print.line(budgetText(budget) || "no limits");
    }
    return exitCodes.done;
  });
}
