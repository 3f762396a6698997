/** What a service reads at its start: the deployment's settings, and the few words that it takes. */
import { messageOf } from "@loopledger/shared/core/errors";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { InvalidSettings } from "@loopledger/shared/runtime/config";
import type { Variables } from "../environment.ts";
import { type Deployment, readDeployment } from "./deployment.ts";

export interface ServiceSettings {
  readonly deployment: Deployment;
  /** Handlers get an allow-list of them. */
  readonly variables: Variables;
  /** Absolute folder that it was started in. */
  readonly cwd: string;
  readonly port: number;
}
export interface Given {
  readonly variables: Variables;
  /** The words behind the program. */
  readonly words: readonly string[];
  readonly cwd: string;
}

/** `--config FILE`, `--data FOLDER` and `--port N` go before their variables; `port` is the usual one. Throws `InvalidSettings` with every fault. */
export function readService({ variables, words, cwd }: Given, { port }: { readonly port: number }): ServiceSettings {
  const given = wordsOf(words);
  const merged = {
    ...variables,
    ...(given.config !== undefined && { LOOPLEDGER_CONFIG: given.config }), ...(given.port !== undefined && { LOOPLEDGER_PORT: given.port }),
  };
  const deployment = readDeployment(merged, given.data === undefined ? undefined : resolve(cwd, given.data));
  return { deployment, variables: merged, cwd, port: deployment.port ?? port };
}

function wordsOf(words: readonly string[]): { readonly config?: string; readonly data?: string; readonly port?: string } {
  try {
    return parseArgs({ args: [...words], strict: true, options: { config: { type: "string" }, data: { type: "string" }, port: { type: "string" } } }).values;
  } catch (error) {
    throw new InvalidSettings([`${messageOf(error)} Words are --config FILE, --data FOLDER and --port N.`]);
  }
}
