/** A revision of a git workspace, taken without changing the repository: index and new objects go to a temporary folder. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, realpath, rm, stat, utimes } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { sha256 } from "../principal.ts";
import { runLeashed } from "./leash.ts";
import { makeScratch } from "./scratch.ts";

const execute = promisify(execFile);

interface Repository {
  readonly top: string;
  readonly index: string;
  readonly objects: string;
}
/** Where it writes to a temporary folder, it ends with this process. */
type Git = (args: readonly string[], scratch?: { readonly folder: string; readonly environment: Readonly<Record<string, string>> }) => Promise<string>;

export interface GitRevisionOptions {
  readonly leaveOut: readonly string[];
  readonly path?: string | undefined;
  /** Hears the top of the repository that counts, before the long part begins. */
  readonly found?: (top: string) => void;
}

const plain = ["-c", "core.fsmonitor=false", "-c", "core.looseCompression=0", "-c", "advice.addEmbeddedRepo=false"];

/** Digest of HEAD, index, working tree and untracked unignored files; null where the folder is in no repository, or ignored by it. */
export async function gitRevision(folder: string, { leaveOut, path, found }: GitRevisionOptions): Promise<string | null> {
  const git: Git = async (args, scratch) => {
    const env = { ...plainEnvironment(path), ...scratch?.environment };
    if (scratch) return runLeashed({ argv: ["git", ...plain, ...args], cwd: folder, environment: env, scratch: scratch.folder });
    const { stdout } = await execute("git", [...plain, ...args], { cwd: folder, maxBuffer: 512 * 1024 * 1024, encoding: "utf8", env });
    return stdout;
  };
  const repository = await repositoryOf(git, folder);
  if (repository === null) return null;
  found?.(repository.top);
  const left = await outsOf(leaveOut, repository.top);
  const pathspec = [":(top)", ...left.map((path) => `:(top,exclude,literal)${path}`)];
  const [head, index, tree] = await Promise.all([
    git(["rev-parse", "--verify", "--quiet", "HEAD"]).catch(() => "none"),
    git(["ls-files", "--stage", "-z", "--", ...pathspec]),
    workingTree(git, repository, left),
  ]);
  return `git:${sha256(JSON.stringify([head.trim(), sha256(index), tree])).slice("sha256:".length)}`;
}

/** Nothing that points git elsewhere, and no person's own settings: every process of every user sees the same state. */
function plainEnvironment(path = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"): Record<string, string> {
  return {
    PATH: path, LC_ALL: "C", HOME: "/nonexistent", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*",
  };
}

async function repositoryOf(git: Git, folder: string): Promise<Repository | null> {
  let found: string[];
  try {
    found = (await git(["rev-parse", "--show-toplevel", "--git-path", "index", "--git-path", "objects"])).split("\n");
  } catch {
    return null;
  }
  const [top = "", index = "", objects = ""] = found;
  if (top === "") return null;
  if ((await realpath(folder)) !== (await realpath(top)) && (await isIgnored(git))) return null;
  return { top, index: resolve(folder, index), objects: resolve(folder, objects) };
}

/** A folder that its repository ignores has no state there: what happens in it would go unseen. */
async function isIgnored(git: Git): Promise<boolean> {
  return git(["check-ignore", "--quiet", "."]).then(() => true, () => false);
}

/** Those of the paths, relative to the top, that the repository ignores. */
async function ignoredOf(git: Git, { top, paths }: { readonly top: string; readonly paths: readonly string[] }): Promise<ReadonlySet<string>> {
  const looked = await Promise.all(paths.map((path) => git(["-C", top, "check-ignore", "--quiet", "--", path]).then(() => [path], () => [])));
  return new Set(looked.flat());
}

/** Paths inside the repository, relative to its top, with slashes. */
async function outsOf(leaveOut: readonly string[], top: string): Promise<string[]> {
  const realTop = await realpath(top);
  const inside: string[] = [];
  for (const path of leaveOut) {
    const real = await realpath(path).catch(() => path);
    const from = relative(realTop, real);
    if (from !== "" && from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from)) inside.push(from.split(sep).join("/"));
  }
  return inside;
}

/**
 * A copy keeps what git knows of unchanged files, so that only changed ones are read. It keeps the time too: git reads a file again that
 * is not older than the index, since it may have been changed in the very moment in which it was last looked at.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const time = Math.floor((await stat(from)).mtimeMs) / 1000;
  await copyFile(from, to);
  await utimes(to, time, time);
}

async function workingTree(git: Git, repository: Repository, left: readonly string[]): Promise<string> {
  const folder = await makeScratch();
  try {
    const index = join(folder, "index");
    await copyIndex(repository.index, index).catch(() => undefined);
    const environment = {
      GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: join(folder, "objects"), GIT_ALTERNATE_OBJECT_DIRECTORIES: repository.objects,
    };
    await mkdir(environment.GIT_OBJECT_DIRECTORY);
    const scratch = { folder, environment };
    const ignored = await ignoredOf(git, { top: repository.top, paths: left });
    // Git refuses to leave out by name what it ignores already.
    await git(["add", "--all", "--", ":(top)", ...left.filter((path) => !ignored.has(path)).map((path) => `:(top,exclude,literal)${path}`)], scratch);
    if (left.length > 0) await git(["rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", ...left.map((path) => `:(top,literal)${path}`)], scratch);
    return (await git(["write-tree"], scratch)).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
