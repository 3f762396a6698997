import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { chmod, mkdir, readFile, readdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../../packages/handlers/test/support.ts";
import { bytesMax } from "../../packages/handlers/src/revision/files.ts";
import { workspaceRevision } from "../../packages/handlers/src/revision/workspace-revision.ts";

async function repository({ commit = true } = {}) {
  const folder = await temporaryFolder();
  const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  git("init", "-q");
  await writeFile(join(folder, "a.txt"), "one\n");
  await writeFile(join(folder, ".gitignore"), "ignored/\n");
  if (commit) {
    git("add", ".");
    git("commit", "-qm", "first");
  }
  return { folder, git };
}
/** Each change gives another revision than all before; going back gives the first again. */
async function revisionsOf(folder: string, changes: readonly (() => Promise<unknown> | unknown)[], leaveOut: readonly string[] = []) {
  const revisions = [await workspaceRevision(folder, { leaveOut })];
  for (const change of changes) {
    await change();
    revisions.push(await workspaceRevision(folder, { leaveOut }));
  }
  return revisions;
}

test("in git each change of HEAD, index, working tree and untracked files is another revision", async () => {
  const { folder, git } = await repository();
  const revisions = await revisionsOf(folder, [
    () => writeFile(join(folder, "a.txt"), "two\n"),
    () => git("add", "a.txt"),
    () => git("commit", "-qm", "second"),
    () => writeFile(join(folder, "new.txt"), "n"),
    () => chmod(join(folder, "new.txt"), 0o755),
    () => rm(join(folder, "a.txt")),
  ]);
  expect(new Set(revisions).size).toBe(7);
  for (const revision of revisions) expect(revision).toMatch(/^git:[0-9a-f]{64}$/);
  git("checkout", "-q", "--", "a.txt");
  await rm(join(folder, "new.txt"));
  expect(await workspaceRevision(folder)).toBe(revisions[3]);
});

test("a file that was changed in the very moment in which it was added is seen, though its size and its times are the same", async () => {
  const { folder, git } = await repository();
  git("config", "core.trustctime", "false");
  const moment = Math.floor(Date.now() / 1000) - 10;
  await utimes(join(folder, "a.txt"), moment, moment);
  git("add", "a.txt");
  await utimes(join(folder, ".git", "index"), moment, moment);
  const [before, after] = await revisionsOf(folder, [async () => {
    await writeFile(join(folder, "a.txt"), "two\n");
    await utimes(join(folder, "a.txt"), moment, moment);
  }]);
  expect(after).not.toBe(before);
});

test("files that git was told not to look at are looked at all the same, and the repository still says so afterwards", async () => {
  const { folder, git } = await repository();
  await writeFile(join(folder, "b.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "second");
  git("update-index", "--assume-unchanged", "a.txt");
  git("update-index", "--skip-worktree", "b.txt");
  const revisions = await revisionsOf(folder, [
    () => writeFile(join(folder, "a.txt"), "two\n"), () => writeFile(join(folder, "b.txt"), "two\n"), () => writeFile(join(folder, "a.txt"), "one\n"), () => writeFile(join(folder, "b.txt"), "one\n"),
  ]);
  expect([new Set(revisions).size, revisions[4]]).toEqual([4, revisions[0]]);
  expect(git("ls-files", "-v")).toContain("h a.txt\nS b.txt\n");
});
test("in a sparse work tree what lies outside of it counts where it is there", async () => {
  const { folder, git } = await repository();
  await mkdir(join(folder, "out"));
  await writeFile(join(folder, "out", "b.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "second");
  git("sparse-checkout", "set", "in");
  const revisions = await revisionsOf(folder, [() => mkdir(join(folder, "out"), { recursive: true }), () => writeFile(join(folder, "out", "new.txt"), "n"), () => writeFile(join(folder, "out", "new.txt"), "m")]);
  expect(new Set(revisions.slice(1)).size).toBe(3);
  for (const revision of revisions) expect(revision).toMatch(/^git:/);
});
test("a split index stays one in the repository alone: nothing is written there", async () => {
  const { folder, git } = await repository();
  git("config", "core.splitIndex", "true");
  git("update-index", "--split-index");
  const before = await readdir(join(folder, ".git"));
  expect(before.some((name) => name.startsWith("sharedindex."))).toBe(true);
  await revisionsOf(folder, [() => writeFile(join(folder, "a.txt"), "two\n"), () => writeFile(join(folder, "new.txt"), "n")]);
  expect(await readdir(join(folder, ".git"))).toEqual(before);
});
test("where nothing can be written to the temporary folder the data folder serves, and the revision is the same", async () => {
  const { folder } = await repository();
  const data = join(folder, ".loopledger");
  await mkdir(data);
  const good = await workspaceRevision(folder, { leaveOut: [data] });
  vi.stubEnv("TMPDIR", "/proc/self/fd");
  try {
    expect(await workspaceRevision(folder, { leaveOut: [data] })).toBe(good);
  } finally {
    vi.unstubAllEnvs();
  }
  expect([good, await readdir(data)]).toEqual([expect.stringMatching(/^git:/), []]);
});
test("a temporary folder within the work tree does not count with what revisions keep there", async () => {
  const { folder } = await repository();
  const within = join(folder, "tmp");
  await mkdir(within);
  await writeFile(join(within, "kept.txt"), "k");
  vi.stubEnv("TMPDIR", within);
  try {
    const [first, second] = [await workspaceRevision(folder), await workspaceRevision(folder)];
    expect([first, second]).toEqual([expect.stringMatching(/^git:/), first]);
    await mkdir(join(within, "loopledger-revision-of-another-process"));
    await writeFile(join(within, "loopledger-revision-of-another-process", "index"), "i");
    expect(await workspaceRevision(folder)).toBe(first);
    await writeFile(join(within, "kept.txt"), "l");
    expect(await workspaceRevision(folder)).not.toBe(first);
  } finally {
    vi.unstubAllEnvs();
  }
});
test("ignored files and the data folder do not count", async () => {
  const { folder } = await repository();
  const data = join(folder, ".loopledger");
  const revisions = await revisionsOf(folder, [
    () => mkdir(join(folder, "ignored")), () => writeFile(join(folder, "ignored", "x"), "x"),
    () => mkdir(data), () => writeFile(join(data, "ledger.db"), "x"), () => writeFile(join(data, "ledger.db"), "y"),
  ], [data]);
  expect(new Set(revisions).size).toBe(1);
});

test("in a repository that ignores the data folder nothing that it ignores counts", async () => {
  const { folder } = await repository();
  const data = join(folder, ".loopledger");
  await writeFile(join(folder, ".gitignore"), "ignored/\n.loopledger/\n");
  await mkdir(data);
  const revisions = await revisionsOf(folder, [
    () => writeFile(join(data, "ledger.db"), "x"), () => mkdir(join(folder, "ignored")), () => writeFile(join(folder, "ignored", "cov.log"), "x"),
  ], [data]);
  expect(new Set(revisions).size).toBe(1);
  expect(revisions[0]).toMatch(/^git:/);
});

test("a data folder that is ignored, or tracked by mistake, does not count either", async () => {
  const { folder, git } = await repository();
  const data = join(folder, ".loopledger");
  await mkdir(data);
  await writeFile(join(data, "ledger.db"), "x");
  git("add", "-f", ".loopledger");
  git("commit", "-qm", "by mistake");
  const tracked = await revisionsOf(folder, [() => writeFile(join(data, "ledger.db"), "y"), () => git("add", ".")], [data]);
  expect(new Set(tracked).size).toBe(1);
  await writeFile(join(folder, ".gitignore"), ".loopledger/\n");
  const ignored = await revisionsOf(folder, [() => writeFile(join(data, "other"), "z"), () => writeFile(join(folder, "seen"), "s")], [data]);
  expect(ignored[1]).toBe(ignored[0]);
  expect(ignored[2]).not.toBe(ignored[0]);
});

test("taking a revision changes nothing in the repository", async () => {
  const { folder, git } = await repository();
  await writeFile(join(folder, "new.txt"), "n");
  const files = async () => ((await readdir(join(folder, ".git"), { recursive: true })).sort());
  const before = { index: await readFile(join(folder, ".git", "index")), files: await files() };
  await workspaceRevision(folder);
  expect({ index: await readFile(join(folder, ".git", "index")), files: await files() }).toEqual(before);
  expect(git("status", "--porcelain")).toBe("?? new.txt\n");
});

test("a repository without commits, and a folder inside of one, have revisions", async () => {
  const { folder } = await repository({ commit: false });
  await mkdir(join(folder, "inner"));
  const revisions = await revisionsOf(join(folder, "inner"), [() => writeFile(join(folder, "a.txt"), "two\n"), () => writeFile(join(folder, "inner", "b"), "b")]);
  expect(new Set(revisions).size).toBe(3);
  expect(revisions[0]).toMatch(/^git:/);
});

test("a folder that its repository ignores is digested by its files", async () => {
  const { folder } = await repository();
  const inner = join(folder, "ignored", "copy");
  await mkdir(inner, { recursive: true });
  const revisions = await revisionsOf(inner, [() => writeFile(join(inner, "b"), "b"), () => writeFile(join(inner, "b"), "c")]);
  expect(new Set(revisions).size).toBe(3);
  expect(revisions[0]).toMatch(/^files:/);
});

test("without git all files count but those of packages and of the data folder", async () => {
  const folder = await temporaryFolder();
  const data = join(folder, "data");
  for (const name of ["src", "node_modules", ".loopledger", "data"]) await mkdir(join(folder, name));
  const same = await revisionsOf(folder, ["node_modules", ".loopledger", "data"].map((name) => () => writeFile(join(folder, name, "x"), name)), [data]);
  expect(new Set(same).size).toBe(1);
  const differing = await revisionsOf(folder, [
    () => writeFile(join(folder, "src", "a"), "1"), () => writeFile(join(folder, "src", "a"), "2"), () => chmod(join(folder, "src", "a"), 0o755),
    () => symlink("a", join(folder, "src", "b")), () => rm(join(folder, "src", "a")),
  ], [data]);
  expect(new Set(differing).size).toBe(6);
});

test("what another session writes into the data folder is no change, by whatever way the folder and the workspace are named", async () => {
  const folder = await temporaryFolder();
  const [real, work, data] = [join(folder, "real"), join(folder, "work"), join(folder, "data")];
  await mkdir(join(real, "kept", "runs", "other"), { recursive: true });
  await symlink(real, work);
  await symlink(join(real, "kept"), data);
  for (const [workspace, leaveOut] of [[work, data], [real, data], [work, join(work, "kept")], [real, join(work, "kept")]] as const) {
    const before = await workspaceRevision(workspace, { leaveOut: [leaveOut] });
    await writeFile(join(real, "kept", "runs", "other", "live.log"), `${workspace} ${leaveOut}`);
    expect(await workspaceRevision(workspace, { leaveOut: [leaveOut] }), `${workspace} ${leaveOut}`).toBe(before);
  }
});

test("a workspace that is missing has none", async () => {
  expect(await workspaceRevision(join(await temporaryFolder(), "missing"))).toBeNull();
});

test("one that is too large to be read whole has one of sizes and times", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "large"), "");
  await truncate(join(folder, "large"), bytesMax + 1);
  const revisions = await revisionsOf(folder, [() => utimes(join(folder, "large"), 1, 1), () => writeFile(join(folder, "small"), "s")]);
  expect(new Set(revisions).size).toBe(3);
  for (const revision of revisions) expect(revision).toMatch(/^stat:[0-9a-f]{64}$/);
  expect(await workspaceRevision(folder)).toBe(revisions[2]);
});

test("a file that was read before is read again where it has changed, also to as many bytes at the same time of day", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "a");
  const old = new Date(Date.now() - 60_000);
  await writeFile(file, "one");
  await utimes(file, old, old);
  const first = await workspaceRevision(folder);
  await until(() => Date.now() - statSync(file).ctimeMs > 200, { what: "a settled file" });
  expect(await workspaceRevision(folder)).toBe(first);
  await writeFile(file, "two");
  await utimes(file, old, old);
  expect(await workspaceRevision(folder)).not.toBe(first);
});
