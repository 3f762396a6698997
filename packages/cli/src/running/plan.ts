/** What a `run` was asked for: the goal, the commands that it brings, and the id that the same words always give. */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, relative, resolve } from "node:path";
import { type Goal, goalTextMax } from "@loopledger/shared/core/events/goal";
import { sessionIdPattern, sessionIdRule } from "@loopledger/shared/core/session-id";
import { digestOf } from "@loopledger/shared/core/json";
import { runPrefix } from "@loopledger/shared/core/session/handlers-named";
import { quoted } from "@loopledger/shared/core/shell-word";
import { createSystemIds } from "@loopledger/shared/system";
import { HandlersConfigInvalid, parseHandlersConfig } from "@loopledger/handlers/config/handlers-config";
import type { AdHoc } from "@loopledger/composition/project/handlers";
import type { Project } from "@loopledger/composition/project/project";
import { knownHandlers, missingHandlers } from "@loopledger/composition/project/known-handlers";
import { UsageError } from "../errors.ts";
import { decodeText } from "@loopledger/composition/project/strict-text";
import { readGoal, readGoalFile } from "../goal-file.ts";
import { above, whole } from "./numbers.ts";
import { splitWords } from "./words.ts";

export interface RunOptions {
  readonly maker?: string;
  readonly check?: string;
  readonly id?: string;
  readonly iterations?: string;
  readonly cost?: string;
  readonly timeout?: string;
  readonly stdin?: string;
  readonly shell?: boolean;
  readonly protect?: readonly string[];
  readonly env?: readonly string[];
  readonly quiet?: boolean;
  readonly attach?: boolean;
}
export interface RunPlan {
  readonly goal: Goal;
  readonly adHoc: AdHoc;
  readonly id: string;
  /** The id was given: an ended session of that name is shown; a derived one makes room for the next. */
  readonly idIsGiven: boolean;
}
interface Asked { readonly words: string; readonly options: RunOptions; readonly project: Project; readonly cwd: string }

const maker = `${runPrefix}maker`;
const check = `${runPrefix}check`;

/** Throws `UsageError` with every mistake of the command line. */
export async function planRun({ words, options, project, cwd }: Asked): Promise<RunPlan> {
  const faults: string[] = [];
  const collect = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(error.message);
      return undefined;
    }
  };
  if (options.id !== undefined && !sessionIdPattern.test(options.id)) faults.push(`--id "${options.id}" is no session id: ${sessionIdRule}`);
  if (options.stdin !== undefined && !["prompt", "json"].includes(options.stdin)) faults.push(`--stdin is prompt or json, not "${options.stdin}"`);
  const budget = {
    ...(options.iterations !== undefined && { iterations: collect(() => whole("--iterations", options.iterations, 1)) }),
    ...(options.cost !== undefined && { costUsd: collect(() => above("--cost", options.cost, 0)) }),
  };
  const timeoutSeconds = options.timeout === undefined ? undefined : collect(() => above("--timeout, in seconds,", options.timeout, 0));
  const place = relative(project.folder, cwd) || undefined;
  const common = { ...(place && { cwd: place }), ...(timeoutSeconds && { timeoutSeconds }), ...(options.env && { env: options.env }) };
  const program = (name: string, command: string) => ({ ...common, ...collect(() => commandOf(name, command, options.shell ?? false)) });
  const makers = options.maker === undefined ? {} : { [maker]: { ...program("--maker", options.maker), ...(options.stdin && { stdin: options.stdin }) } };
  const checks = options.check === undefined ? {} : { [check]: program("--check", options.check) };
  faults.push(...(options.env ?? []).flatMap(faultOfName), ...faultsOfCommands({ makers, checks }, faults));
  if (faults.length > 0) throw new UsageError("The command line has mistakes.", { faults });
  const goal = await goalOf({ words, options, project, cwd }, budget);
  const adHoc: AdHoc = { makers: makers as AdHoc["makers"], checks: checks as AdHoc["checks"], protect: options.protect ?? [] };
  refuseMissing(goal, { project, adHoc });
  return { goal, adHoc, id: options.id ?? goal.id ?? derivedId(goal, adHoc, cwd), idIsGiven: (options.id ?? goal.id) !== undefined };
}

/** A variable is handed on by its name; its value is the one that it has here. */
function faultOfName(name: string): string[] {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return [];
  const [, before, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(name) ?? [];
  return [`--env takes the name of a variable, not ${JSON.stringify(name.slice(0, 80))}${before === undefined ? "" : `: set it before the command, ${before}=${quoted(value ?? "")} loopledger run … --env ${before}`}`];
}

/** What a config would be refused for, told of the flag that brought it. */
function faultsOfCommands(commands: object, earlier: readonly string[]): string[] {
  if (earlier.length > 0) return [];
  try {
    parseHandlersConfig(commands);
    return [];
  } catch (error) {
    if (!(error instanceof HandlersConfigInvalid)) throw error;
    const said = error.faults.filter((fault) => !/\.env\.\d+: is no name/.test(fault));
    return [...new Set(said.map((fault) => fault.replace(/^(maker|check)s\.run\/\1\.?/, (_, kind: string) => `--${kind}: `).replace(/^--(maker|check): env\.\d+/, "--env").replace(/^--(maker|check): timeoutSeconds/, "--timeout")))];
  }
}

/** What nobody here can run is refused before it stands on the ledger. */
function refuseMissing(goal: Goal, { project, adHoc }: { readonly project: Project; readonly adHoc: AdHoc }): void {
  const faults = missingHandlers(goal, knownHandlers(project, adHoc));
  if (faults.length === 0) return;
  throw new UsageError("The goal names handlers that are not there.", { code: "handler_missing", faults, next: "Add them to the config, name the config with --config, or give --maker and --check." });
}

/** The words that go on with the session later, from the same folder. Ceilings are on the ledger by then. */
export function lineOf(words: string, { maker: make, check: judge, shell, stdin, protect, env, timeout }: RunOptions, id: string): string[] {
  const flag = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [name, value]);
  return [
    "run", words, ...flag("--maker", make), ...flag("--check", judge), ...(shell ? ["--shell"] : []), ...flag("--stdin", stdin),
    ...(protect ?? []).flatMap((glob) => ["--protect", glob]), ...(env ?? []).flatMap((name) => ["--env", name]), ...flag("--timeout", timeout), "--id", id,
  ];
}

function commandOf(name: string, command: string, shell: boolean): { readonly exec: string | readonly string[]; readonly shell?: true } {
  if (shell) {
    if (command.trim() === "") throw new UsageError(`${name}: it names no program`);
    return { exec: command, shell: true };
  }
  const split = splitWords(command);
  if (!split.ok) throw new UsageError(`${name} ${JSON.stringify(command)} cannot be split into words: ${split.fault}`);
  return { exec: split.words };
}

/** TEXT is the goal itself; FILE is a goal file, or a text whose content is the goal. */
async function goalOf({ words, options, project, cwd }: Asked, budget: Goal["budget"]): Promise<Goal> {
  const path = resolve(cwd, words);
  const isFile = words.length < 4096 && !words.includes("\n") && existsSync(path) && statSync(path).isFile();
  const looksLikeGoalFile = /^\S+\.(ya?ml|json)$/.test(words);
  if (looksLikeGoalFile && !isFile) await readGoalFile(path);
  const overrides = { ...(options.maker !== undefined && { maker }), ...(options.check !== undefined && { check }) };
  if (isFile && /^\.(ya?ml|json)$/.test(extname(words))) {
    const goal = await readGoalFile(path);
    return { ...goal, ...overrides, ...(Object.keys(budget ?? {}).length > 0 && { budget: { ...goal.budget, ...budget } }) };
  }
  const text = (isFile ? decodeText(await readFile(path), words) : words).trim();
  if (text === "") throw new UsageError("The goal is empty.", { next: 'Say what is to be done: loopledger run "make the tests pass" …' });
  if (text.length > goalTextMax) throw new UsageError(`The goal has ${text.length} characters; it may have ${goalTextMax}.`, { code: "goal_too_large", next: "Put the rest into files that the maker reads." });
  const goal = {
    goal: text, maker: overrides.maker ?? onlyOne(project, "makers", "--maker"), check: overrides.check ?? onlyOne(project, "checks", "--check"),
    ...(Object.keys(budget ?? {}).length > 0 && { budget }),
  };
  return readGoal(JSON.stringify(goal), "the command line");
}

/** The config's handler, where there is exactly one to choose. */
function onlyOne(project: Project, kind: "makers" | "checks", flag: string): string {
  const names = Object.keys(project.handlers[kind]);
  const [name] = names;
  if (name !== undefined && names.length === 1) return name;
  const what = names.length === 0
    ? `${project.path === null ? "and there is no loopledger.config.* in this folder" : `and ${project.path} has no ${kind}`}`
    : `and the config has several ${kind} (${names.join(", ")}): a goal file names one`;
  throw new UsageError(`${flag} is missing, ${what}.`, { next: `Give it a command: ${flag} "${kind === "makers" ? "./agent.sh" : "npm test"}"` });
}

/** The same goal, commands and folder give the same id; ceilings, and how the commands are run, say nothing of what is wanted. */
function derivedId({ budget: _ceiling, ...goal }: Goal, adHoc: AdHoc, folder: string): string {
  const { sha256 } = createSystemIds();
  const commands = [...Object.entries(adHoc.makers), ...Object.entries(adHoc.checks)].map(([name, { exec, shell }]: [string, { exec?: unknown; shell?: unknown }]) => [name, exec, shell ?? false]);
  return `run-${digestOf({ goal, commands, folder } as never, sha256).slice("sha256:".length, "sha256:".length + 16)}`;
}
