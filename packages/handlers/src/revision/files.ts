/**
 * A revision of a plain folder: a digest over its files.
 *
 * The content of a file is read again only where its inode, size or times have changed since it was read. Work is done in short
 * slices, so that a large folder holds nothing else of this process up.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, createReadStream, lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Above either of these a file counts by its size and times, not by its content: reading all would take longer than the check. */
const filesMax = 100_000;
export const bytesMax = 512 * 1024 * 1024;
/** More is not even listed. */
const listedMax = 2_000_000;
const skipped: ReadonlySet<string> = new Set(["node_modules", ".loopledger", ".git"]);

interface Entry {
  /** Relative, with slashes. */
  readonly name: string;
  readonly path: string;
  /** `closed`: a folder that may not be read. */
  readonly kind: "file" | "program" | "link" | "closed" | "other";
  readonly stat: BigIntStats;
}

/**
 * `files:` with a digest over path, kind, executable bit and content of each file; `stat:` with one over sizes and times in place of
 * contents where there are too many, or they are too large. null where even the list is too long. Throws where there is no such folder.
 */
export async function filesRevision(folder: string, leaveOut: readonly string[]): Promise<string | null> {
  const slices = new Slices();
  // By their real places: what is left out may be named by another way than the one that leads here.
  const entries = await listed(realpathSync(folder), new Set(leaveOut.map(realPlace)), slices);
  if (entries === null) return null;
  const bytes = entries.reduce((sum, { kind, stat }) => sum + (isFile(kind) ? Number(stat.size) : 0), 0);
  const byContent = entries.length <= filesMax && bytes <= bytesMax;
  const hash = createHash("sha256");
  for (const entry of entries) {
    await slices.pause();
    const content = isFile(entry.kind) ? (byContent ? await fileDigest(entry) : timesOf(entry.stat)) : entry.kind === "link" ? targetOf(entry.path) : "";
    hash.update(`${JSON.stringify([entry.name, entry.kind, content])}\n`);
  }
  return `${byContent ? "files" : "stat"}:${hash.digest("hex")}`;
}

/** What is in the folder, in an order that depends on names alone; null where that is too much. */
async function listed(folder: string, left: ReadonlySet<string>, slices: Slices): Promise<Entry[] | null> {
  const entries: Entry[] = [];
  const walk = async (within: string, prefix: string): Promise<boolean> => {
    for (const name of readdirSync(within).sort()) {
      await slices.pause();
      const path = join(within, name);
      if (skipped.has(name) || left.has(path)) continue;
      const stat = statOf(path);
      if (stat === null) continue;
      if (!stat.isDirectory()) entries.push({ name: `${prefix}${name}`, path, kind: kindOf(stat), stat });
      else if (!mayRead(path)) entries.push({ name: `${prefix}${name}`, path, kind: "closed", stat });
      else if (!(await walk(path, `${prefix}${name}/`))) return false;
      if (entries.length > listedMax) return false;
    }
    return true;
  };
  return (await walk(folder, "")) ? entries : null;
}

function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
/** null where it is gone by now, or cannot be looked at. */
function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
function mayRead(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
function kindOf(stat: BigIntStats): Entry["kind"] {
  if (stat.isFile()) return (stat.mode & 0o111n) === 0n ? "file" : "program";
  return stat.isSymbolicLink() ? "link" : "other";
}
function isFile(kind: Entry["kind"]): boolean {
  return kind === "file" || kind === "program";
}
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "unreadable";
  }
}
function timesOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Up to here a file is read at one go. */
const smallBytes = 256 * 1024;
/** Younger files are read again: two writes within the clock's step leave the same times. */
const settledMs = 100;
const knownMax = 200_000;
/** What was read, by path: times and digest. */
const known = new Map<string, { readonly times: string; readonly digest: string }>();

async function fileDigest({ path, stat }: Entry): Promise<string> {
  const times = timesOf(stat);
  const before = known.get(path);
  if (before?.times === times) return before.digest;
  const settled = Date.now() - Number(stat.ctimeMs) > settledMs;
  const digest = await read(path, Number(stat.size));
  if (digest === null) return "unreadable";
  if (known.size >= knownMax) known.clear();
  if (settled) known.set(path, { times, digest });
  return digest;
}

/** null where it is gone or unreadable by now: as good as another content. */
async function read(path: string, size: number): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    if (size <= smallBytes) hash.update(readFileSync(path));
    else for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } catch {
    return null;
  }
}

/** How long this process is held up at a time, in ms. */
const sliceMs = 8;
class Slices {
  #since = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.#since < sliceMs) return;
    await new Promise<void>((resolve) => { setImmediate(resolve); });
    this.#since = performance.now();
  }
}
