/** The program: global options, one command module loaded for the command that was typed, errors and exit codes. */
import { statSync } from "node:fs";
import { Command, CommanderError } from "commander";
import type { Action, Bind, CommandEntry } from "./command.ts";
import { commandList } from "./command-list.ts";
import { type CommandContext, type GlobalOptions, makeContext } from "./context.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { UsageError, describeError, errorText } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { exitWith, keepAlive, surviveStrayErrors } from "@loopledger/composition/process/process-end";

const version = "0.0.0";

/** Runs the command line to its end; the process leaves with the command's code. */
export async function runProgram(words: readonly string[]): Promise<void> {
  surviveStrayErrors();
  keepAlive();
  const environment = readEnvironment();
  let context: Voice = { json: words.includes("--json"), hint: (text) => text };
  try {
    context = makeContext(environment, { json: context.json });
    const program = await makeProgram(words, bindTo(environment));
    await program.parseAsync(words, { from: "user" });
    await exitWith(exitCodes.done);
  } catch (error) {
    await exitWith(reportError(error, context));
  }
}

type Voice = Pick<CommandContext, "json" | "hint">;

/** Tells what went wrong; the code to leave with. */
function reportError(error: unknown, { json, hint }: Voice): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.done;
    // A group of commands without one of them: its help stands on stderr by now.
    if (error.code === "commander.help" && !json) return exitCodes.usage;
    const message = error.code === "commander.help" ? "This command takes one of its own commands." : error.message.replace(/^error: /, "");
    process.stderr.write(errorText(new UsageError(sentence(message)), json, hint));
    return exitCodes.usage;
  }
  const described = describeError(error);
  process.stderr.write(errorText(described, json, hint));
  if (error instanceof Error && wantsStacks()) process.stderr.write(`${error.stack}\n`);
  return described.exitCode;
}
function sentence(text: string): string {
  const [first = "", ...rest] = text;
  return `${first.toUpperCase()}${rest.join("").replaceAll("\n", " ")}${/[.?)!]$/.test(text) ? "" : "."}`;
}
function wantsStacks(): boolean {
  return readEnvironment().variables["LOOPLEDGER_LOG_LEVEL"] === "debug";
}

/** The program for these words: it knows the command that they name, and refuses what no command takes. */
export async function makeProgram(words: readonly string[], bind: Bind): Promise<Command> {
  const program = new Command("loopledger");
  program
    .description("Durable agent loops on an append-only ledger.")
    .option("--data <folder>", "the data folder (default: LOOPLEDGER_DATA, else ./.loopledger)")
    .option("--json", "one JSON document on stdout; NDJSON for lists and streams")
    .option("--url <address>", "work on a gateway instead (LOOPLEDGER_URL)")
    .option("--token <token>", "the gateway's bearer token (LOOPLEDGER_TOKEN)")
    .option("--config <file>", "the config (default: loopledger.config.{ts,mjs,json,yaml} of the working folder)")
    .version(version)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({ writeErr: (text) => void (words.includes("--json") || process.stderr.write(text)), outputError: () => undefined })
    .exitOverride()
    .helpCommand("help [command]", "what a command does");
  const typed = commandTyped(words);
  const entry = commandList.find((one) => one.name === typed);
  if (entry) await load(program, entry, bind);
  else if (typed !== null && typed !== "help") throw unknownCommand(typed, await nearest(typed));
  else await listAll(program, words, bind);
  return program;
}

async function load(program: Command, entry: CommandEntry, bind: Bind): Promise<void> {
  const module = await entry.load();
  module.register(program, bind, commandList);
  for (const command of program.commands) inherit(command, program);
}
/** Commands that were made before the settings were copied take them on: refusals are thrown, and stdout stays clean. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

/** For `--help` alone: every command with its summary; for `help NAME`, that command's own. */
async function listAll(program: Command, words: readonly string[], bind: Bind): Promise<void> {
  const asked = words[words.indexOf("help") + 1];
  const entry = words.includes("help") ? commandList.find((one) => one.name === asked) : undefined;
  if (entry) return load(program, entry, bind);
  if (words.includes("help") && asked !== undefined) throw unknownCommand(asked, await nearest(asked));
  for (const one of commandList) program.command(one.name).description(one.summary).allowUnknownOption();
  program.addHelpText("after", "\nExamples:\n  loopledger run \"make the tests pass\" --maker ./agent.sh --check \"npm test\"\n  loopledger status fix-login --json\n");
  program.action(() => program.help());
}

const optionsWithValue = new Set(["--data", "--url", "--token", "--config"]);

/** The first word that is neither an option nor an option's value. */
function commandTyped(words: readonly string[]): string | null {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return null;
    if (optionsWithValue.has(word)) index++;
    else if (!word.startsWith("-")) return word;
  }
  return null;
}

async function nearest(typed: string): Promise<string | null> {
  const { nearestName } = await import("@loopledger/shared/core/nearest");
  return nearestName(typed, commandList.map((one) => one.name));
}
function unknownCommand(typed: string, near: string | null): UsageError {
  return new UsageError(`There is no command "${typed}".${near === null ? "" : ` Did you mean ${near}?`}`, {
    code: "unknown_command", next: "`loopledger --help` lists the commands.",
  });
}

/** A config that is named must be there, also for a command that needs none: what is passed over would be taken for used. */
function refuseNoConfig(path: string | null): void {
  if (path === null || statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  throw new UsageError(`There is no config ${path}.`, { code: "no_such_file", next: "Mend --config or LOOPLEDGER_CONFIG, or leave it out: then the working folder's is taken." });
}

/** The wrapper around each action: context in, exit code out. */
function bindTo(environment: Environment): Bind {
  return <O>(action: Action<O>) => async (...given: unknown[]) => {
    const command = given.at(-1) as Command;
    const context = makeContext(environment, command.optsWithGlobals<GlobalOptions>());
    let code: ExitCode;
    try {
      refuseNoConfig(context.configPath);
      code = await action(context, command.processedArgs, command.opts() as O);
    } catch (error) {
      code = reportError(error, context);
    }
    await exitWith(code);
  };
}
