/**
 * How this command is called from where it was typed, so that every command that it prints can be typed as it stands.
 *
 * Texts name commands as `loopledger NAME …`; here they get the program's path where it is not on PATH, and the flags that lead
 * to the same data folder, config or gateway.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { quoted } from "@loopledger/shared/core/shell-word";
import type { Environment } from "./environment.ts";

export interface Calling {
  readonly environment: Environment;
  /** Absolute folder that the process works in. */
  readonly cwd: string;
  /** Absolute. */
  readonly dataFolder: string;
  /** The config that belongs to what is told, absolute; null = the one that is found by itself. */
  readonly configPath: string | null;
  readonly url: string | null;
}

/** Commands that run handlers, and so need the config that has them, and those whose own hint names such a command: they hand it on. */
const withConfig: ReadonlySet<string> = new Set([
  "verify", "advance", "reconcile", "run", "dev", "serve", "doctor",
  "submit", "explain", "resume", "budget", "guide", "pause", "approvals", "approve", "reject", "retry", "modify",
]);
/** Commands that touch no ledger. */
const withoutData: ReadonlySet<string> = new Set(["init", "completion", "step", "help", "validate", "--help"]);

/** Commands that work beside a ledger and never through a gateway. */
const neverRemote: ReadonlySet<string> = new Set(["serve", "dev", "run", "infra", "topics"]);

/** The text with its commands as they must be typed: a text that is one command, and commands between backticks. */
export function typable(text: string, calling: Calling): string {
  if (/^loopledger \S/.test(text) && !text.includes("`")) return commandOf(text, calling);
  return text.replaceAll(/`(loopledger [^`]+)`/g, (_whole, command: string) => `\`${commandOf(command, calling)}\``);
}

function commandOf(command: string, calling: Calling): string {
  // Flags go before the shell comment that names another way.
  const [, name = "", rest = "", comment = ""] = /^loopledger (\S+)(.*?)(  # .*)?$/s.exec(command) ?? [];
  return [programFrom(calling), ` ${name}${rest}`, ...flagsFor(name, rest, calling), comment].join("");
}

function flagsFor(name: string, rest: string, calling: Calling): string[] {
  const { environment, dataFolder, configPath, url } = calling;
  const here = typedIn(calling);
  if (withoutData.has(name)) return [];
  if (url !== null && neverRemote.has(name)) return [];
  if (url !== null && url !== environment.url) return [` --url ${quoted(url)}`];
  const usual = resolve(here, environment.dataFolder ?? ".loopledger");
  const data = dataFolder === usual || / --data /.test(rest) ? [] : [` --data ${quoted(shortest(here, dataFolder))}`];
  const isFound = configPath !== null && (environment.config === null ? dirname(configPath) === here && /^loopledger\.config\.[a-z]+$/.test(basename(configPath)) : resolve(here, environment.config) === configPath);
  const config = configPath === null || isFound || !withConfig.has(name) ? [] : [` --config ${quoted(shortest(here, configPath))}`];
  return [...data, ...config];
}

/** Where the person is who reads it: npm starts its scripts in the package's folder. */
function typedIn({ environment: { variables }, cwd }: Calling): string {
  return (variables["npm_lifecycle_event"] !== undefined && variables["INIT_CWD"]) || cwd;
}
function shortest(from: string, path: string): string {
  const there = relative(from, path);
  return there === "" ? "." : there.length < path.length ? there : path;
}

/** The command's own file in this checkout; null where there is none. */
const ownFile = ((path: string): string | null => (existsSync(path) ? realpathSync(path) : null))(join(import.meta.dirname, "../../../bin/loopledger"));

function programFrom(calling: Calling): string {
  if (ownFile === null || isOnPath(ownFile, calling.environment.variables["PATH"] ?? "")) return "loopledger";
  const path = shortest(typedIn(calling), ownFile);
  return quoted(path.includes("/") ? path : `./${path}`);
}

/** Under npm the scripts' own folders come first, and a person's shell does not have them. */
function isOnPath(file: string, path: string): boolean {
  for (const folder of path.split(delimiter)) {
    const candidate = join(folder, "loopledger");
    if (folder === "" || folder.includes("node_modules") || !existsSync(candidate)) continue;
    return realpathSync(candidate) === file;
  }
  return false;
}
