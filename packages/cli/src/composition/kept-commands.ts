/**
 * The check that a `run` brought itself, kept beside the ledger of this host so that `verify` can run it again. A goal's text never
 * becomes a command: what is kept here is only run while its digest is still the one that the receipt names.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { sessionFolder } from "@loopledger/shared/blobs";
import { z } from "zod";
import type { AdHoc } from "./project-handlers.ts";

const kept = z.strictObject({ folder: z.string().min(1), checks: z.record(z.string(), z.record(z.string(), z.unknown())), protect: z.array(z.string()) });

export interface KeptCommands {
  /** Absolute folder that the commands' own folders stand on. */
  readonly folder: string;
  readonly adHoc: AdHoc;
}

function placeOf(dataFolder: string, sessionId: string): string {
  return join(dataFolder, "commands", `${sessionFolder(sessionId)}.json`);
}

/** Written whole or not at all. */
export async function keepCommands(dataFolder: string, sessionId: string, { folder, adHoc }: KeptCommands): Promise<void> {
  if (Object.keys(adHoc.checks).length === 0) return;
  const place = placeOf(dataFolder, sessionId);
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const draft = `${place}.${process.pid}.new`;
  await writeFile(draft, `${JSON.stringify({ folder, checks: adHoc.checks, protect: adHoc.protect }, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, place);
}

/** Null where nothing is kept that can be read. */
export async function keptCommands(dataFolder: string, sessionId: string): Promise<KeptCommands | null> {
  let text: string;
  try {
    text = await readFile(placeOf(dataFolder, sessionId), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const read = kept.safeParse(JSON.parse(text));
  return read.success ? { folder: read.data.folder, adHoc: { makers: {}, checks: read.data.checks, protect: read.data.protect } } : null;
}

/** A check was kept with the session, and it is another command than this. */
export async function isOtherCheck(dataFolder: string, sessionId: string, { checks, protect }: AdHoc): Promise<boolean> {
  const earlier = (await keptCommands(dataFolder, sessionId))?.adHoc;
  return earlier !== undefined && !isDeepStrictEqual({ checks: earlier.checks, protect: [...earlier.protect] }, JSON.parse(JSON.stringify({ checks, protect })));
}
