/** `validate`: is this goal or config right, and what will be pinned, bounded, asked? */
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { type Register, example } from "../command.ts";
import { type Validated, validateConfig, validateGoal } from "../checking/validation.ts";
import { parseStrictly } from "../config/strict-text.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { decodeText } from "../goal-file.ts";

export const register: Register = (program, bind) => {
  program.command("validate <file>")
    .description("Checks a goal file or a config, and says what will be pinned, bounded and asked.")
    .addHelpText("after", example("loopledger validate goals/fix-login.yaml", "loopledger validate loopledger.config.ts"))
    .action(bind(async (context, [file = ""]) => show(context, (await isConfig(context, file)) ? await validateConfig(context, resolve(context.cwd, file)) : await validateGoal(context, file))));
};

/** A program is a config; of data, what names makers, checks or tools is one. */
async function isConfig(context: CommandContext, file: string): Promise<boolean> {
  if (/^\.[cm]?[jt]s$/.test(extname(file))) return true;
  if (file === "-") return false;
  const bytes = await readFile(resolve(context.cwd, file)).catch(() => null);
  if (bytes === null) throw new UsageError(`There is no file ${file}.`, { code: "no_such_file", next: "Name a goal file or a config." });
  if (bytes.byteLength > 1_048_576) return false;
  const { value } = parseStrictly(decodeText(bytes, file));
  return value !== null && typeof value === "object" && ["makers", "checks", "tools", "prepare"].some((name) => Object.hasOwn(value, name));
}

function show({ json, print }: CommandContext, { document, lines }: Validated): ExitCode {
  if (json) print.json(document);
  else for (const line of lines) print.line(line);
  return document.ok ? exitCodes.done : exitCodes.usage;
}
