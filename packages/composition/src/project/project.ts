/** The project: its folder and its config, `loopledger.config.{ts,mjs,json,yaml}`. All mistakes of a config are named at once. */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { HandlersConfigInvalid, handlersConfig, parseHandlersConfig } from "@loopledger/handlers/config/handlers-config";
import { faultsOfSchema } from "@loopledger/shared/core/schema-faults";
import { z } from "zod";
import { announceDataFolder } from "../environment.ts";
import { Refusal, UsageError } from "../refusals.ts";
import { answerForLoopledger } from "./find-package.ts";
import { type Project, noProject } from "./project-shape.ts";

export type { Project };

const prepare = z.strictObject({ exec: z.array(z.string().min(1)).min(1), timeoutSeconds: z.number().positive().max(86_400).optional() });
const own = z.strictObject({ prepare: prepare.optional() });
const sections = Object.keys(handlersConfig.shape);
/** What a config may have beside handlers; the handlers' own sections are only named here, so that hints know them. */
const shape = z.strictObject({ ...own.shape, ...Object.fromEntries(sections.map((name) => [name, z.unknown().optional()])) });

const extensions = ["ts", "mts", "mjs", "js", "json", "yaml", "yml"];

/** The config's file in a folder; null where there is none. Refuses two of them, because one would be overlooked. */
export function findConfig(folder: string): string | null {
  const found = extensions.map((extension) => join(folder, `loopledger.config.${extension}`)).filter((path) => existsSync(path));
  if (found.length > 1) throw new UsageError(`There are several configs: ${found.join(", ")}.`, { code: "invalid_config", next: "Keep one, or name one with --config." });
  return found[0] ?? null;
}

/** Reads the project of a folder, or the one whose config is named. Throws `invalid_config` or `no_such_file`. */
export async function loadProject(place: { readonly folder: string; readonly configPath: string | null; readonly dataFolder: string }): Promise<Project> {
  const path = place.configPath ?? findConfig(place.folder);
  if (path === null) return noProject(place.folder);
  if (!(await stat(path).catch(() => null))?.isFile()) throw new UsageError(`There is no config ${path}.`, { code: "no_such_file", next: "See --config." });
  announceDataFolder(place.dataFolder);
  return readConfig(path, await configValue(path));
}

/** Throws `invalid_config` with every mistake of the value. */
export function readConfig(path: string, value: unknown): Project {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalidConfig(path, ["it holds no config: makers, checks and tools by name"]);
  }
  const parsed = shape.safeParse(value);
  const faults = parsed.success ? [] : faultsOfSchema(shape, parsed.error, value);
  const written = Object.fromEntries(Object.entries(value).filter(([name]) => sections.includes(name)));
  try {
    const handlers = parseHandlersConfig(written);
    if (parsed.success) return { folder: dirname(path), path, prepare: own.parse({ prepare: parsed.data.prepare }).prepare ?? null, handlers, written };
  } catch (error) {
    if (!(error instanceof HandlersConfigInvalid)) throw error;
    faults.push(...error.faults);
  }
  throw invalidConfig(path, faults);
}

async function configValue(path: string): Promise<unknown> {
  if (/^\.(json|ya?ml)$/.test(extname(path))) {
    // Most configs are programs: what reads the other forms is loaded for them alone.
    const { decodeText, parseStrictly } = await import("./strict-text.ts");
    const read = parseStrictly(decodeText(await readFile(path), path));
    if (read.faults.length > 0) throw invalidConfig(path, read.faults);
    return read.value;
  }
  answerForLoopledger();
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Refusal("invalid_config", `${path} could not be loaded.`, { next: "Mend the file; it is run as it stands, like any module.", faults: [reason] });
  }
  if (module.default === undefined) throw invalidConfig(path, ["it has no default export: `export default defineConfig({ … })`"]);
  return module.default;
}

function invalidConfig(path: string, faults: readonly string[]): UsageError {
  return new UsageError(`${path} is no config that can be used.`, { code: "invalid_config", faults, next: "Mend what is named; `loopledger validate FILE` checks it again." });
}
