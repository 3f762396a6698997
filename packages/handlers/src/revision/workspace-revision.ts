import { realpathSync } from "node:fs";
import { filesRevision } from "./files.ts";
import { gitRevision } from "./git.ts";

export interface RevisionOptions {
  /** Absolute folders that do not count. */
  readonly leaveOut?: readonly string[];
  /** Where git is looked for. */
  readonly path?: string | undefined;
  /** Hears, in a sentence, what it is that takes so long. */
  readonly slow?: ((sentence: string) => void) | undefined;
}

/** After this long whoever waits is told what for. */
const slowMs = 2_000;

/**
 * The state of a workspace as one text: equal where nothing has changed. In git HEAD, index, working tree and untracked unignored files
 * of the whole repository count, else all files but `node_modules` and `.loopledger`. null where there is no such folder, or it cannot
 * even be listed.
 */
export async function workspaceRevision(folder: string, { leaveOut = [], path, slow }: RevisionOptions = {}): Promise<string | null> {
  let top: string | null = null;
  const found = (repository: string): void => {
    top = repository;
  };
  const timer = slow && setTimeout(() => slow(sentenceOf(folder, top)), slowMs).unref();
  try {
    return (await gitRevision(folder, { leaveOut, path, found })) ?? (await filesRevision(folder, leaveOut));
  } catch {
    return filesRevision(folder, leaveOut).catch(() => null);
  } finally {
    clearTimeout(timer);
  }
}

/** A check may rest on anything in its repository, so all of that counts, also where it is worked in one folder of it. */
function sentenceOf(folder: string, top: string | null): string {
  if (top === null) return `taking the revision of ${folder}: every file in it is looked at`;
  const around = realPlace(folder) === realPlace(top) ? "" : " (the repository around this folder)";
  return `taking the revision of ${top}${around}: every file that git does not ignore is looked at`;
}
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
