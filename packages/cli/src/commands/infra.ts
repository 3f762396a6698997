/** `infra`: a real Kafka, a real Redis and a schema registry on this machine, without Docker. */
import { join, resolve } from "node:path";
import { makeDataFolder } from "@loopledger/composition/ports/data-folder";
import type { PartName, PartReport, UpOptions } from "@loopledger/infra/launcher";
import { type Register, example } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { whole } from "../running/numbers.ts";

interface FolderOption { readonly dir?: string }
interface UpFlags extends FolderOption {
  readonly only?: string;
  readonly ports?: string;
  readonly portBase?: string;
  readonly partitions?: string;
  readonly flush?: boolean;
}
interface DownFlags extends FolderOption { readonly purge?: boolean }

export const register: Register = (program, bind) => {
  const infra = program.command("infra").description("Kafka, Redis and a schema registry on this machine, without Docker")
    .addHelpText("after", example("eval \"$(loopledger infra up --ports free)\"", "loopledger infra status", "loopledger infra down"));
  infra.command("up").description("brings up what is not up and makes the topics; prints what to export")
    .option("--dir <folder>", "where its data and notes are (default: infra in the data folder)")
    .option("--only <parts>", "some of kafka, redis, registry, with commas")
    .option("--ports <which>", "free: any free ports (default: 9092, 9093, 6379, 8081)")
    .option("--port-base <n>", "four ports from this one on")
    .option("--partitions <n>", "of topics that are made (default 12)")
    .option("--flush", "every record of the ledger is flushed to disk before it is acknowledged")
    .addHelpText("after", example("loopledger infra up --json", "eval \"$(loopledger infra up --ports free)\"", "loopledger infra up --only kafka,redis --port-base 20000"))
    .action(bind<UpFlags>((context, _words, flags) => bringUp(context, flags)));
  infra.command("down").description("ends what up started; the data stays")
    .option("--dir <folder>", "the folder that up was given, or was typed in")
    .option("--purge", "the data goes too")
    .addHelpText("after", example("loopledger infra down", "loopledger infra down --purge"))
    .action(bind<DownFlags>((context, _words, flags) => endAll(context, flags)));
  infra.command("status").description("what runs; leaves with 1 where a part is not up")
    .option("--dir <folder>", "the folder that up was given, or was typed in")
    .addHelpText("after", example("loopledger infra status --json"))
    .action(bind<FolderOption>((context, _words, flags) => look(context, flags)));
};

/** Of the folder in which `up` was typed it is the one in its data folder. */
async function startedIn(context: CommandContext, flags: FolderOption): Promise<string> {
  const [folder, { hasParts }] = [folderOf(context, flags), await import("@loopledger/infra/launcher")];
  const within = join(folder, ".loopledger", "infra");
  return !hasParts(folder) && hasParts(within) ? within : folder;
}
const folderOf = ({ cwd, dataFolder }: CommandContext, { dir }: FolderOption): string => (dir === undefined ? join(dataFolder, "infra") : resolve(cwd, dir));

async function partsOf(only: string | undefined): Promise<readonly PartName[] | undefined> {
  if (only === undefined) return undefined;
  const { partNames } = await import("@loopledger/infra/launcher");
  const named = only.split(",").map((name) => name.trim());
  const unknown = named.filter((name) => !partNames.some((part) => part === name));
  if (unknown.length > 0) throw new UsageError(`--only takes ${partNames.join(", ")}; ${unknown.join(", ")} is none of them.`);
  return partNames.filter((part) => named.includes(part));
}

function portsOf({ ports, portBase }: UpFlags): UpOptions["ports"] {
  if (ports !== undefined && ports !== "free") throw new UsageError(`--ports takes the word free, not "${ports}".`, { next: "A certain first port is --port-base N." });
  if (portBase === undefined) return ports;
  if (ports !== undefined) throw new UsageError("--ports and --port-base say two things.");
  const base = whole("--port-base", portBase, 1);
  if (base > 65_532) throw new UsageError(`--port-base must be at most 65532, not ${base}.`);
  return base;
}

async function bringUp(context: CommandContext, flags: UpFlags): Promise<ExitCode> {
  const { environment: { variables }, print, json } = context;
  const [only, ports] = [await partsOf(flags.only), portsOf(flags)];
  const { up } = await import("@loopledger/infra/launcher");
  // The data folder tells git to leave it alone before anything lies in it.
  if (flags.dir === undefined) makeDataFolder(context.dataFolder);
  const { env, folder, parts, topics } = await up({
    folder: folderOf(context, flags), variables, tell: print.note, ...(only && { only }), ...(ports !== undefined && { ports }),
    topics: {
      ...(variables["LOOPLEDGER_TOPIC_PREFIX"] && { prefix: variables["LOOPLEDGER_TOPIC_PREFIX"] }), ...(flags.flush && { flush: true }),
      ...(flags.partitions !== undefined && { partitions: whole("--partitions", flags.partitions, 1) }),
    },
  });
  if (json) print.json({ env, folder, parts, topics });
  else {
    for (const part of parts) print.note(describe(part));
    for (const { name, did, partitions } of topics) if (did !== "nothing") print.note(`topic ${name} ${did}, ${partitions} partitions`);
    for (const [name, value] of Object.entries(env)) print.line(`export ${name}='${value}'`);
  }
  return exitCodes.done;
}

function describe({ name, state, pid, port, kind }: PartReport): string {
  return `${name.padEnd(9)} ${state}, process ${pid}, 127.0.0.1:${port}${kind === undefined ? "" : ` (${kind})`}`;
}

async function endAll(context: CommandContext, flags: DownFlags): Promise<ExitCode> {
  const { environment: { variables }, print, json } = context;
  const { down, status } = await import("@loopledger/infra/launcher");
  const folder = await startedIn(context, flags);
  const { env } = status(folder);
  const ended = await down({ folder, variables, tell: print.note, purge: flags.purge ?? false });
  if (json) print.json({ folder, ended });
  else if (ended.length === 0) print.note(`Nothing runs that was started in ${folder}.${elsewhere(context)}`);
  const stale = Object.keys(env).filter((name) => variables[name] === env[name]);
  if (stale.length > 0) print.note(`This shell still names what has ended. Back to the data folder: unset ${stale.join(" ")}`);
  return exitCodes.done;
}

/** What was started belongs to a folder, and this shell works on something all the same. */
function elsewhere({ environment: { variables } }: CommandContext): string {
  const brokers = variables["LOOPLEDGER_KAFKA_BROKERS"];
  return brokers ? ` This shell works on ${brokers}: what was started in another folder is ended there, or with --dir; where it has ended, unset LOOPLEDGER_KAFKA_BROKERS.` : "";
}

async function look(context: CommandContext, flags: FolderOption): Promise<ExitCode> {
  const { print, json } = context;
  const { status } = await import("@loopledger/infra/launcher");
  const { env, folder, parts } = status(await startedIn(context, flags));
  const isUp = parts.length > 0 && parts.every(({ state }) => state === "running");
  if (json) print.json({ up: isUp, folder, env, parts });
  else if (parts.length === 0) print.line(context.hint(`Nothing runs that was started in ${folder}.${elsewhere(context) || " Next: `loopledger infra up`."}`));
  else for (const part of parts) print.line(describe(part));
  return isUp ? exitCodes.done : exitCodes.failed;
}
