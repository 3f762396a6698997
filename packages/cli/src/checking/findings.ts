/** Checks of an installation, each with what was found and what mends it. */
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { findConfig, loadProject } from "@loopledger/composition/project/project";
import type { Finding } from "@loopledger/infra/findings";
import { distributedOf } from "../commands/topics.ts";
import type { CommandContext } from "../context.ts";
import { devOn } from "../developing/port-file.ts";
import { counted } from "../story/telling.ts";
import { describeError } from "../errors.ts";
import { startedHere } from "./started-here.ts";
import { hasLedger } from "@loopledger/composition/ports/data-folder";

type Check = (context: CommandContext) => Promise<Finding> | Finding;

const nodeMajorMin = 24;
const port = 7420;
const fine = (name: string, detail: string): Finding => ({ name, ok: true, detail, fix: null });
const wrong = (name: string, detail: string, fix: string): Finding => ({ name, ok: false, detail, fix });

export async function findAll(context: CommandContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  const isDistributed = context.environment.kafkaBrokers !== null;
  for (const check of isDistributed ? [node, settings, dataFolder, config, git] : [node, settings, dataFolder, ledger, views, config, pins, git]) findings.push(await check(context));
  findings.push(...(await (isDistributed ? surroundings(context) : besides(context))));
  for (const check of [apiPort, signing]) findings.push(await check(context));
  return findings;
}

/** What `infra up` started here, although this shell works on the data folder. */
async function besides(context: CommandContext): Promise<readonly Finding[]> {
  const here = await startedHere(context);
  if (here === null) return [];
  const said = `\`loopledger infra up\` started a Kafka here, ${here.brokers}; this shell works on the data folder until what it prints is exported`;
  return [fine("infra", said), ...(await surroundings({ environment: { ...context.environment, variables: here.variables }, dataFolder: context.dataFolder }))];
}

/** Kafka, Redis and the registry. Where the variables themselves are wrong, `settings` says so. */
async function surroundings({ environment: { variables }, dataFolder: folder }: Pick<CommandContext, "environment" | "dataFolder">): Promise<readonly Finding[]> {
  try {
    const { findSurroundings } = await import("@loopledger/infra/findings");
    const found = await findSurroundings(distributedOf(variables));
    return found.every(({ ok }) => ok) ? found : [...found, ...(await elsewhere(folder, variables))];
  } catch (error) {
    const { faults, message } = describeError(error);
    return [wrong("kafka", faults.join("; ") || message, "Mend the LOOPLEDGER_… variables that are named.")];
  }
}

/** Parts that `infra up` started here and that run at other addresses than the variables name: they were typed before a newer `up`. */
async function elsewhere(folder: string, variables: CommandContext["environment"]["variables"]): Promise<readonly Finding[]> {
  const { status } = await import("@loopledger/infra/launcher");
  const { env, parts } = status(join(folder, "infra"));
  const others = Object.entries(env).filter(([name, value]) => variables[name] !== undefined && variables[name] !== value);
  if (others.length === 0 || !parts.every(({ state }) => state === "running")) return [];
  const named = others.map(([name, value]) => `${name} is ${value} there`).join("; ");
  return [wrong("infra", `what \`loopledger infra up\` started in this data folder runs on other ports: ${named}`, 'Type it again: eval "$(loopledger infra up --ports free)"')];
}

const node: Check = () => {
  const detail = `this is Node ${process.versions.node}`;
  return Number(process.versions.node.split(".")[0]) >= nodeMajorMin ? fine("node", detail) : wrong("node", detail, `Install Node ${nodeMajorMin} or newer.`);
};

const settings: Check = async ({ environment }) => {
  const { readSettings } = await import("@loopledger/shared/runtime/config");
  try {
    const { leaseMs, silenceMs } = readSettings(createSystemClock(), environment.variables);
    return fine("settings", `lease ${leaseMs} ms, silence ${silenceMs} ms`);
  } catch (error) {
    const { faults, message } = describeError(error);
    return wrong("settings", faults.join("; ") || message, "Mend the LOOPLEDGER_… variables that are named.");
  }
};

const dataFolder: Check = ({ dataFolder: folder }) => {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  if (!statSync(at).isDirectory()) return wrong("data folder", `${at} is no folder`, "Name another one with --data.");
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    // Rights are not all: some file systems take no folders, whoever asks.
    if (at !== folder) rmdirSync(mkdtempSync(join(at, ".loopledger-doctor-")));
    return fine("data folder", existsSync(folder) ? `${folder} can be written` : `${folder} will be made at the first use`);
  } catch {
    return wrong("data folder", `nothing can be made in ${at} by this user`, "Make it writable, or name another one with --data.");
  }
};

const ledger: Check = async ({ dataFolder: folder }) => {
  try {
    if (!hasLedger(folder)) return fine("ledger", "there is none so far; the first command that writes makes it");
    const { openSqliteLedger } = await import("@loopledger/shared/sqlite");
    const opened = openSqliteLedger({ folder, clock: createSystemClock(), ids: createSystemIds() });
    const end = await opened.end();
    await opened.close();
    return fine("ledger", `${opened.ledgerId}, ${opened.partitions} partitions, ends at ${[...end.values()].reduce((most, one) => Math.max(most, one), 0)}`);
  } catch (error) {
    const { message, next } = describeError(error);
    return wrong("ledger", message, next);
  }
};

const views: Check = async ({ dataFolder: folder }) => {
  try {
    if (!hasLedger(folder)) return fine("views", "there is no ledger to show");
    const { openSqliteLedger, openSqliteReadModel } = await import("@loopledger/shared/sqlite");
    const opened = openSqliteLedger({ folder, clock: createSystemClock(), ids: createSystemIds() });
    await opened.close();
    const model = openSqliteReadModel({ folder, ledgerId: opened.ledgerId });
    const active = await model.active();
    const cursors = await model.cursors(active);
    await model.close();
    return fine("views", cursors.size === 0 ? `none were written so far; the ledger is read instead` : `projection ${active}, ${counted(cursors.size, "cursor")}`);
  } catch (error) {
    const { message, next } = describeError(error);
    return wrong("views", message, next);
  }
};

const config: Check = async (context) => {
  try {
    if (context.configPath === null && findConfig(context.cwd) === null) return fine("config", "there is none in this folder; run takes --maker and --check");
    const { path, handlers } = await loadProject({ folder: context.cwd, configPath: context.configPath, dataFolder: context.dataFolder });
    const counts = Object.entries(handlers).map(([kind, entries]) => counted(Object.keys(entries).length, kind.replace(/s$/, ""))).join(", ");
    return fine("config", `${path}: ${counts}`);
  } catch (error) {
    const { message, faults, next } = describeError(error);
    return wrong("config", [message, ...faults].join(" "), next);
  }
};

/** Two configs on one data folder, or one that was changed under sessions that are alive. */
const pins: Check = async (context) => {
  try {
    const { otherPins } = await import("./pins.ts");
    const others = await otherPins(context);
    const [first] = others;
    if (!first) return fine("pins", "no session that is alive began with another check");
    const named = others.slice(0, 5).map(({ sessionId, check }) => `${check} of ${sessionId}`).join(", ");
    const detail = `${counted(others.length, "check")} of sessions that are alive ${others.length === 1 ? "is" : "are"} not what the config here has: ${named}${others.length > 5 ? ", …" : ""}`;
    return wrong("pins", detail, context.hint(`They stop with check_changed here. Give each config a data folder of its own (--data), put the check back, or accept it: \`loopledger resume ${first.sessionId} --accept-check\``));
  } catch {
    // Whatever keeps the ledger or the config from being read is told under its own name.
    return fine("pins", "they could not be looked at");
  }
};

const git: Check = async () => {
  try {
    const { stdout } = await promisify(execFile)("git", ["--version"]);
    return fine("git", stdout.trim());
  } catch {
    return fine("git", "it is not installed; revisions are digests of the files instead");
  }
};

const apiPort: Check = async ({ dataFolder: folder }) => {
  const isFree = await new Promise<boolean>((resolve) => {
    const server = createServer().once("error", () => resolve(false)).listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
  if (isFree) return fine("port", `${port} is free for dev`);
  const other = devOn(port, { host: createSystemHost(), dataFolder: folder });
  return fine("port", other ? `${port} is that of a running dev: process ${other.self.pid}, on ${other.dataFolder}` : `${port} is taken by another program; dev takes --port`);
};

const signing: Check = ({ environment }) => {
  const path = environment.variables["LOOPLEDGER_KEYS"];
  if (!path) return fine("keys", environment.kafkaBrokers === null ? "none are configured; records are not signed" : "none are configured: records are not signed, and the topics' ACLs are the only guard");
  return existsSync(join(path)) ? fine("keys", path) : wrong("keys", `LOOPLEDGER_KEYS names ${path}, which is not there`, "Mend the path, or unset it.");
};
