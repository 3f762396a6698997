/**
 * The shape of a command module. `register` adds its command, or several, to the program; each action is wrapped by `bind`, which hands it the
 * context and ends the process with the code that it returns. What it throws becomes a sentence on stderr and an exit code.
 *
 *   export const register: Register = (program, bind) => {
 *     program.command("ls").description("…").option("--limit <n>", "…").addHelpText("after", example("loopledger ls --json"))
 *       .action(bind<{ limit?: string }>(async (context, [], options) => exitCodes.done));
 *   };
 */
import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";

/** `words` are the positional arguments in order; an optional one that was left out is undefined. */
export type Action<O> = (context: CommandContext, words: readonly (string | undefined)[], options: O) => Promise<ExitCode>;
export type Bind = <O = Record<string, never>>(action: Action<O>) => (...given: unknown[]) => Promise<void>;
/** `commands` is the list of all commands, for who speaks about the others. */
export type Register = (program: Command, bind: Bind, commands: readonly CommandEntry[]) => void;

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly register: Register }>;
}

/** The text behind `--help`'s options. */
export function example(...lines: readonly string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}
