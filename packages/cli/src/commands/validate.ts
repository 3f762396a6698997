/** `validate`: is this goal or config right, and what will be pinned, bounded, asked? */
import { readFile, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { type Register, example } from "../command.ts";
import { type Validated, validateConfig, validateGoal } from "../checking/validation.ts";
import { findConfig } from "@loopledger/composition/project/project";
import { decodeText, parseStrictly } from "@loopledger/composition/project/strict-text";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";

export const register: Register = (program, bind) => {
  program.command("validate <file>")
    .description("Checks a goal file, a config, or the config of a folder, and says what will be pinned, bounded and asked.")
    .addHelpText("after", example("loopledger validate goals/fix-login.yaml", "loopledger validate loopledger.config.ts"))
    .action(bind(async (context, [file = ""]) => show(context, await validated(context, file))));
};

const bytesMax = 1_048_576;

async function validated(context: CommandContext, file: string): Promise<Validated> {
  if (file === "-") return validateGoal(context, file);
  const path = resolve(context.cwd, file);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UsageError(`There is no file ${file}.`, { code: "no_such_file", next: "Name a goal file, a config, or a project's folder." });
  if (found.isDirectory()) return validateFolder(context, path);
  if (!found.isFile()) throw new UsageError(`${file} is no file.`, { code: "no_such_file", next: "Name a goal file, a config, or a project's folder; `-` is standard input." });
  if (/^loopledger\.config\.[a-z]+$/.test(basename(path))) return validateConfig(context, path);
  // A config is run as it stands, and nothing else is: what is only to be looked at must not do anything.
  if (/^\.[cm]?[jt]sx?$/.test(extname(path))) {
    throw new UsageError(`${file} is a program, and only one that is called loopledger.config.* is read as a config.`, { next: "Call it loopledger.config.ts (or .mjs), or name a goal file." });
  }
  return (await looksLikeConfig(path, found.size)) ? validateConfig(context, path) : validateGoal(context, file);
}

/** A project's config, by its folder. */
async function validateFolder(context: CommandContext, folder: string): Promise<Validated> {
  const config = findConfig(folder);
  if (config === null) throw new UsageError(`There is no loopledger.config.* in ${folder}.`, { code: "no_config", next: "Name a goal file or a config; `loopledger init` makes a project." });
  return validateConfig(context, config);
}

/** Of data, what names makers, checks or tools is a config. */
async function looksLikeConfig(path: string, size: number): Promise<boolean> {
  if (size > bytesMax) return false;
  const { value } = parseStrictly(decodeText(await readFile(path), path));
  return value !== null && typeof value === "object" && ["makers", "checks", "tools", "prepare"].some((name) => Object.hasOwn(value, name));
}

function show({ json, print }: CommandContext, { document, lines }: Validated): ExitCode {
  if (json) print.json(document);
  else for (const line of lines) print.line(line);
  return document.ok ? exitCodes.done : exitCodes.usage;
}
