/**
 * Temporary folders of revisions. Their names say whose they are, so that what a killed process left is known from what a living one
 * needs: `loopledger-revision-PLACE-PID-START-…`, with PLACE and START as short digests of boot and pid namespace, and of the start time.
 */
import { lstatSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "../principal.ts";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { placeOf, self, statOf } from "../supervisor/processes.mjs";

export const scratchPrefix = "loopledger-revision-";
const nameShape = /^loopledger-revision-([0-9a-f]{12})-(\d+)-([0-9a-f]{12})-/;
/** Of another boot or pid namespace nobody here knows who lives; what was not touched for so long is no revision's any more. */
const elsewhereMaxMs = 24 * 3_600_000;

export interface ScratchOwner {
  readonly place: string;
  readonly pid: number;
  readonly start: string;
}

/** The beginning of the name of a folder that this process makes. */
export function scratchName({ place, pid, start }: ScratchOwner): string {
  return `${scratchPrefix}${short(place)}-${pid}-${short(start)}-`;
}
function short(text: string): string {
  return sha256(text).slice("sha256:".length, "sha256:".length + 12);
}

const swept = new Set<string>();

/** A new folder in `within`; where this process makes its first one, what dead ones left there goes. */
export async function makeScratch(within = tmpdir()): Promise<string> {
  if (!swept.has(within)) {
    swept.add(within);
    await sweepScratch(within);
  }
  return mkdtemp(join(within, scratchName({ place: placeOf(), ...self() })));
}

/** Removes what dead processes of this user have left in the folder. What cannot be removed costs room, never the revision. */
export async function sweepScratch(within: string): Promise<void> {
  const left = namesIn(within).filter((name) => name.startsWith(scratchPrefix) && isLeft(name, join(within, name)));
  await Promise.all(left.map((name) => rm(join(within, name), { recursive: true, force: true }).catch(() => undefined)));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isLeft(name: string, path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false;
  const [, place, pid = "", start] = nameShape.exec(name) ?? [];
  if (place !== short(placeOf())) return Date.now() - found.mtimeMs > elsewhereMaxMs;
  const living = statOf(Number(pid));
  // Without /proc the text of a start time depends on who asks: there whoever has the number counts as its maker.
  return living === null || (process.platform === "linux" && short(living.start) !== start);
}
