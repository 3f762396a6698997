/** The environment of a program that a handler runs: an allow-list, what the operator names, and what the engine says. */
import { delimiter } from "node:path";
import { cutText, repairText } from "@loopledger/shared/core/json";

type Environment = Readonly<Record<string, string | undefined>>;

const allowed: ReadonlySet<string> = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "USER", "SHELL"]);
/** Linux takes no environment string longer than 128 KiB, name and value together. */
const valueBytesMax = 120_000;

export interface Asked {
  /** Names that the operator's config hands on. */
  readonly names: readonly string[];
  readonly binFolder?: string | undefined;
  /** `LOOPLEDGER_…` of this run. */
  readonly engine: Readonly<Record<string, string>>;
}

/** Where programs are looked for: first in the folder of the command itself. */
export function searchPath(environment: Environment, binFolder: string | undefined): string {
  const path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  return binFolder === undefined ? path : `${binFolder}${delimiter}${path}`;
}

export function environmentFor(environment: Environment, asked: Asked): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && (allowed.has(name) || name.startsWith("LC_") || asked.names.includes(name))) made[name] = value;
  }
  if (asked.binFolder !== undefined) made["PATH"] = searchPath(environment, asked.binFolder);
  for (const [name, value] of Object.entries(asked.engine)) made[name] = fitting(value);
  return made;
}

/** As much as an environment variable can hold, cut between whole characters; a NUL would end it. */
function fitting(value: string): string {
  const text = repairText(value);
  if (Buffer.byteLength(text) <= valueBytesMax) return text;
  const bytes = Buffer.from(text).subarray(0, valueBytesMax);
  return cutText(bytes.toString("utf8").replace(/\uFFFD+$/, ""), valueBytesMax);
}
