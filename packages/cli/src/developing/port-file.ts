/**
 * Which `dev` has a port: a note in its data folder, and one by the port's number in this user's folder for passing files, so that
 * another one can say who is there, whatever folder it works on. A note that cannot be written or read only makes that sentence shorter.
 */
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClaimHost } from "@loopledger/shared/core/events/claimed";
import type { Host } from "@loopledger/shared/ports";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

export interface Served {
  readonly port: number;
  readonly self: ClaimHost;
  /** Absolute. */
  readonly dataFolder: string;
}

/** Writes both notes; the function that is given back takes the one outside of the data folder away. */
export function announcePort(served: Served): () => void {
  const text = `${JSON.stringify(served)}\n`;
  writeFileSync(join(served.dataFolder, "dev.json"), text);
  const folder = ownFolder();
  const note = join(folder, `port-${served.port}.json`);
  try {
    mkdirSync(folder, { mode: 0o700, recursive: true });
    if (isOwn(folder)) writeFileSync(note, text, { mode: 0o600 });
  } catch {
    // The note in the data folder is there.
  }
  return () => {
    if (isOwn(folder)) rmSync(note, { force: true });
  };
}

/** The refusal where a live `dev` has the port; null where nobody knows who has it. */
export function otherDev(wanted: { readonly port: number; readonly host: Host; readonly dataFolder: string }): CliError | null {
  const served = devOn(wanted.port, wanted);
  if (served === null) return null;
  const same = served.dataFolder === wanted.dataFolder;
  return new CliError("dev_running", `Another loopledger dev (process ${served.self.pid}) works on ${served.dataFolder} already, with its API on port ${served.port}.`, {
    exitCode: exitCodes.failed,
    next: same ? "Look at it there, stop it first, or start this one beside it with --port 0." : "Start this one with --port 0, or another number.",
  });
}

/** The live `dev` that has this port, as far as notes tell. */
export function devOn(port: number, { host, dataFolder }: { readonly host: Host; readonly dataFolder: string }): Served | null {
  const notes = [join(dataFolder, "dev.json"), ...(isOwn(ownFolder()) ? [join(ownFolder(), `port-${port}.json`)] : [])];
  return notes.map(read).find((served) => served?.port === port && host.look(served.self) === "alive") ?? null;
}

function ownFolder(): string {
  return join(tmpdir(), `loopledger-${process.getuid?.() ?? "ports"}`);
}
/** Everybody may write where passing files lie: only a folder of one's own is believed. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}
function read(path: string): Served | null {
  try {
    const { dataFolder = "", ...served } = JSON.parse(readFileSync(path, "utf8")) as Served;
    return { ...served, dataFolder };
  } catch {
    return null;
  }
}
