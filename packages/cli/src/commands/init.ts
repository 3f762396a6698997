/** `init`: a working project, with a config, one goal and a README. */
import { messageOf } from "@loopledger/shared/core/errors";
import { statSync } from "node:fs";
import { cp, readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { quoted } from "@loopledger/shared/core/shell-word";
import { makeFolder } from "@loopledger/shared/make-folder";
import { type Register, example } from "../command.ts";
import { UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

const templates = join(import.meta.dirname, "../../templates");
const defaultPattern = "repair";

export const register: Register = (program, bind) => {
  program.command("init [folder]")
    .description("Makes a project that runs as it is: a config, one goal, a README. Files that are there are never touched.")
    .option("--pattern <name>", "repair, daily-triage or pr-review", defaultPattern)
    .addHelpText("after", example("loopledger init my-loop --pattern repair && cd my-loop && loopledger dev --once"))
    .action(bind<{ pattern: string }>(async (context, [folder = "."], { pattern }) => {
      const source = join(templates, await knownPattern(pattern));
      const target = resolve(context.cwd, folder);
      const files = await filesOf(source);
      const taken = await alreadyThere(target, files);
      if (taken.length > 0) {
        throw new UsageError(`${target} has files that would be overwritten.`, { code: "files_exist", faults: taken, next: "Name an empty folder: loopledger init DIR." });
      }
      makeTarget(target);
      await cp(source, target, { recursive: true, force: false });
      if (context.json) context.print.json({ folder: target, pattern, files });
      else {
        for (const file of files) context.print.line(`  ${file}`);
        const place = relative(context.cwd, target);
        context.print.line(`\nNow:  ${place === "" ? "" : `cd ${quoted(place)} && `}${context.withDataFolder(join(target, ".loopledger")).hint("loopledger dev --once", target)}`);
      }
      return exitCodes.done;
    }));
};

function makeTarget(target: string): void {
  try {
    makeFolder(target);
  } catch (error) {
    throw new UsageError(`${target} cannot be made: ${messageOf(error)}.`, { next: "Name another folder." });
  }
  if (!statSync(target).isDirectory()) throw new UsageError(`${target} cannot be made: something else is there.`, { next: "Name another folder." });
}

async function knownPattern(pattern: string): Promise<string> {
  const names = (await readdir(templates)).sort();
  if (names.includes(pattern)) return pattern;
  throw new UsageError(`There is no pattern ${pattern}.`, { next: `Patterns are ${names.join(", ")}.` });
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

async function alreadyThere(target: string, files: readonly string[]): Promise<string[]> {
  const there = new Set(await readdir(target, { recursive: true }).catch(() => []));
  return files.filter((file) => there.has(file));
}
