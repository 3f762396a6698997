/** What every command gets: where it works, how it speaks, and how it opens the ledger. */
import { resolve } from "node:path";
import type { Deployment } from "@loopledger/composition/settings/deployment";
import type { EngineOptions, OpenEngine } from "@loopledger/composition/engine/engine-options";
import type { Environment } from "./environment.ts";
import { UsageError } from "./errors.ts";
import { typable } from "./hints.ts";
import { type Printer, makePrinter } from "./printing.ts";

/** The options that every command understands. */
export interface GlobalOptions {
  readonly data?: string;
  readonly json?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly config?: string;
}

export interface CommandEngineOptions extends Omit<EngineOptions, "spoken"> {
  /** Gets warnings and errors as sentences, in place of a log (default: a note on stderr). */
  readonly tell?: (sentence: string) => void;
}

export interface CommandContext {
  readonly print: Printer;
  /** `--json`: stdout is for programs. */
  readonly json: boolean;
  readonly environment: Environment;
  readonly cwd: string;
  /** Absolute. */
  readonly dataFolder: string;
  /** Where the ledger lies, for sentences: the brokers, or the data folder. */
  readonly where: string;
  /** `--config` or `LOOPLEDGER_CONFIG`, absolute; null = the working folder's. */
  readonly configPath: string | null;
  /** A gateway to work on instead of the data folder. */
  readonly remote: { readonly url: string; readonly token: string | null } | null;
  /** A text with its commands as they must be typed from here, or from another folder. */
  hint(text: string, from?: string): string;
  /** The settings of the ledger that is meant; throws `InvalidSettings` with every mistake. */
  deployment(): Promise<Deployment>;
  /** The ledger and what stands on it, with folds that follow the tail; closed by whoever opened it. */
  openEngine(options?: CommandEngineOptions): Promise<OpenEngine>;
  /** The same context on another data folder. */
  withDataFolder(folder: string): CommandContext;
  /** The same context with this config, absolute. */
  withConfig(path: string): CommandContext;
}

/** Throws `no_working_folder` where the folder that this was typed in has been removed meanwhile. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError("The folder that this was typed in is not there any more.", { code: "no_working_folder", next: "Change to a folder that is there, and type it again." });
  }
}

export function makeContext(environment: Environment, options: GlobalOptions): CommandContext {
  const cwd = workingFolder();
  const url = options.url ?? environment.url;
  const config = options.config ?? environment.config;
  const dataFolder = resolve(cwd, options.data ?? environment.dataFolder ?? ".loopledger");
  const context: CommandContext = {
    print: makePrinter({ stdout: process.stdout, stderr: process.stderr, colours: environment.colours, redraws: !environment.ci && options.json !== true }),
    json: options.json ?? false,
    environment, cwd,
    dataFolder, where: environment.kafkaBrokers ?? dataFolder,
    configPath: config === null ? null : resolve(cwd, config),
    remote: url === null ? null : { url, token: options.token ?? environment.token },
    hint: (text, from = cwd) => typable(text, { environment, cwd: from, dataFolder: context.dataFolder, configPath: context.configPath, url }),
    deployment: async () => (await import("@loopledger/composition/settings/deployment")).readDeployment(environment.variables, context.dataFolder),
    openEngine: async ({ tell = context.print.note, ...engineOptions } = {}) => {
      const [{ openEngine }, { spokenLog }, deployment] = await Promise.all([
        import("@loopledger/composition/engine/open-engine"), import("./story/spoken-log.ts"), context.deployment(),
      ]);
      return openEngine(deployment, { spoken: spokenLog(tell), ...engineOptions });
    },
    withDataFolder: (folder) => makeContext(environment, { ...options, data: folder }),
    withConfig: (path) => makeContext(environment, { ...options, config: path }),
  };
  return context;
}
