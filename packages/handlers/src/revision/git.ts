/** A revision of a git workspace, taken without changing the repository: index and new objects go to a temporary folder. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, realpath, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { sha256 } from "../principal.ts";
import { runLeashed } from "./leash.ts";
import { makeScratch, scratchPrefix } from "./scratch.ts";

const execute = promisify(execFile);

interface Repository {
  readonly top: string;
  readonly index: string;
  readonly objects: string;
}
/** Where it writes to a temporary folder, it ends with this process. */
type Git = (args: readonly string[], scratch?: Scratch) => Promise<string>;
interface Scratch {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface GitRevisionOptions {
  readonly leaveOut: readonly string[];
  readonly path?: string | undefined;
  /** Hears the top of the repository that counts, before the long part begins. */
  readonly found?: (top: string) => void;
}

/** A split index would lie in the repository again, in part; and what a sparse one leaves out may have been made all the same. */
const plain = ["core.fsmonitor=false", "core.looseCompression=0", "core.splitIndex=false", "core.sparseCheckout=false", "advice.addEmbeddedRepo=false"].flatMap((setting) => ["-c", setting]);

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
    // What is left out can be written to: the data folder is there also where the temporary folder is full, or may only be read.
    workingTree(git, { repository, left, places: [tmpdir(), ...leaveOut] }),
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

/** The tree of what is there now, by way of the first place that has room for it. Throws what went wrong in the last one. */
async function workingTree(git: Git, { repository, left, places }: TreeOptions): Promise<string> {
  let failure: unknown = null;
  for (const place of places) {
    try {
      return await treeIn(place, git, { repository, left });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

interface TreeOptions {
  readonly repository: Repository;
  /** Paths that do not count, relative to the top. */
  readonly left: readonly string[];
  /** Folders to work in, the best one first. */
  readonly places: readonly string[];
}

/** Temporary folders of revisions, also of other processes, where they lie in the very work tree that is looked at. */
async function scratchesIn(place: string, top: string): Promise<string[]> {
  const [within] = await outsOf([place], top);
  if (within === undefined) return [];
  return (await readdir(place)).filter((name) => name.startsWith(scratchPrefix)).map((name) => `${within}/${name}`);
}

/** Whoever works there may have told git not to look at some files (assume-unchanged, skip-worktree): in the copy it looks at all of them. */
async function lookAtAll(git: Git, top: string, scratch: Scratch): Promise<void> {
  const listed = (await git(["-C", top, "ls-files", "-v", "-z"], scratch)).split("\0");
  for (const [flag, mark] of [["--no-assume-unchanged", /^[a-z] /], ["--no-skip-worktree", /^[Ss] /]] as const) {
    const passedOver = listed.filter((line) => mark.test(line)).map((line) => line.slice(2));
    for (let at = 0; at < passedOver.length; at += filesAtOnce) await git(["-C", top, "update-index", flag, "--", ...passedOver.slice(at, at + filesAtOnce)], scratch);
  }
}
/** A command line holds them all. */
const filesAtOnce = 500;

async function treeIn(place: string, git: Git, { repository, left: named }: Omit<TreeOptions, "places">): Promise<string> {
  const folder = await makeScratch(place);
  try {
    const left = [...named, ...(await scratchesIn(place, repository.top))];
    const index = join(folder, "index");
    await copyIndex(repository.index, index).catch(() => undefined);
    const environment = {
      GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: join(folder, "objects"), GIT_ALTERNATE_OBJECT_DIRECTORIES: repository.objects,
    };
    await mkdir(environment.GIT_OBJECT_DIRECTORY);
    const scratch = { folder, environment };
    await lookAtAll(git, repository.top, scratch);
    const ignored = await ignoredOf(git, { top: repository.top, paths: left });
    // Git refuses to leave out by name what it ignores already.
    await git(["add", "--all", "--", ":(top)", ...left.filter((path) => !ignored.has(path)).map((path) => `:(top,exclude,literal)${path}`)], scratch);
    if (left.length > 0) await git(["rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", ...left.map((path) => `:(top,literal)${path}`)], scratch);
    return (await git(["write-tree"], scratch)).trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
