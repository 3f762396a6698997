/** A revision of a plain folder: a digest over its files. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** More than this is not digested: it would take longer than the check. */
export const filesMax = 20_000;
export const bytesMax = 512 * 1024 * 1024;
const skipped: ReadonlySet<string> = new Set(["node_modules", ".loopledger", ".git"]);

/** Digest over path, kind, executable bit and content of each file; null where there are too many of them, or they are too large. */
export async function filesRevision(folder: string, leaveOut: readonly string[]): Promise<string | null> {
  const hash = createHash("sha256");
  const left = new Set(leaveOut);
  let files = 0;
  let bytes = 0;
  const walk = async (within: string): Promise<boolean> => {
    const names = (await readdir(within)).sort();
    for (const name of names) {
      const path = join(within, name);
      if (skipped.has(name) || left.has(path)) continue;
      const found = await lstat(path).catch(() => null);
      if (found === null) continue;
      if (found.isDirectory()) {
        if (!(await walk(path))) return false;
        continue;
      }
      files += 1;
      bytes += found.isFile() ? found.size : 0;
      if (files > filesMax || bytes > bytesMax) return false;
      const kind = found.isFile() ? ((found.mode & 0o111) === 0 ? "file" : "program") : found.isSymbolicLink() ? "link" : "other";
      const content = found.isFile() ? await fileDigest(path) : found.isSymbolicLink() ? await readlink(path) : "";
      hash.update(`${JSON.stringify([relative(folder, path).split(sep).join("/"), kind, content])}\n`);
    }
    return true;
  };
  return (await walk(folder)) ? `files:${hash.digest("hex")}` : null;
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch {
    // Gone or unreadable by now: as good as another content.
    return "unreadable";
  }
  return hash.digest("hex");
}
