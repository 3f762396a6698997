/**
 * What a `run` brought itself, kept beside the ledger of this host: its check, so that `verify` can run it again, and its line, so that
 * a person can type it again. A goal's text never becomes a command: the check is only run while its digest is still the one that the
 * receipt names, and the line is only shown.
 */
import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { quoted } from "@loopledger/shared/core/shell-word";
import { sessionFolder } from "@loopledger/shared/blobs";
import { z } from "zod";
import type { AdHoc } from "@loopledger/composition/project/handlers";

const kept = z.strictObject({
  folder: z.string().min(1), checks: z.record(z.string(), z.record(z.string(), z.unknown())), protect: z.array(z.string()), cwd: z.string().optional(), line: z.array(z.string()).optional(),
});

export interface KeptCommands {
  /** Absolute folder that the commands' own folders stand on. */
  readonly folder: string;
  readonly adHoc: AdHoc;
}
export interface TypedCommands extends KeptCommands {
  /** Absolute folder in which the line was typed. */
  readonly cwd: string;
  /** The words behind `loopledger`. */
  readonly line: readonly string[];
}

function placeOf(dataFolder: string, sessionId: string): string {
  return join(dataFolder, "commands", `${sessionFolder(sessionId)}.json`);
}

/** Written whole or not at all. */
export async function keepCommands(dataFolder: string, sessionId: string, { folder, adHoc, cwd, line }: TypedCommands): Promise<void> {
  if (Object.keys(adHoc.checks).length + Object.keys(adHoc.makers).length === 0) return;
  const place = placeOf(dataFolder, sessionId);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const draft = `${place}.${process.pid}.new`;
  await writeFile(draft, `${JSON.stringify({ folder, checks: adHoc.checks, protect: adHoc.protect, cwd, line }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, place);
}

/** Null where no check is kept that can be read. */
export function keptCommands(dataFolder: string, sessionId: string): KeptCommands | null {
  const read = readKept(dataFolder, sessionId);
  if (!read || Object.keys(read.checks).length === 0) return null;
  return { folder: read.folder, adHoc: { makers: {}, checks: read.checks, protect: read.protect } };
}

/** The line that goes on with a session of a `run`, and the folder in which it was typed; null where none is kept. */
export function keptLine(dataFolder: string, sessionId: string): { readonly command: string; readonly cwd: string } | null {
  const { line, cwd } = readKept(dataFolder, sessionId) ?? {};
  return line === undefined || cwd === undefined ? null : { command: ["loopledger", ...line.map(quoted)].join(" "), cwd };
}

/** A check was kept with the session, and it is another command than this. How long it may run, and what it gets of the environment, is not asked. */
export function isOtherCheck(dataFolder: string, sessionId: string, { checks, protect }: AdHoc): boolean {
  const earlier = keptCommands(dataFolder, sessionId)?.adHoc;
  const commands = (of: AdHoc["checks"]) => Object.entries(of).map(([name, { timeoutSeconds: _time, env: _names, ...command }]: [string, Definition]) => [name, command]);
  const comparable = (of: Pick<AdHoc, "checks" | "protect">): unknown => JSON.parse(JSON.stringify([commands(of.checks), of.protect]));
  return earlier !== undefined && !isDeepStrictEqual(comparable(earlier), comparable({ checks, protect }));
}
type Definition = { readonly timeoutSeconds?: unknown; readonly env?: unknown };

function readKept(dataFolder: string, sessionId: string): z.infer<typeof kept> | null {
  let text: string;
  try {
    text = readFileSync(placeOf(dataFolder, sessionId), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  return kept.safeParse(JSON.parse(text)).data ?? null;
}
