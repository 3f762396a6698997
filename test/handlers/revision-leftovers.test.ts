import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { fixture, temporaryFolder } from "../../packages/handlers/test/support.ts";
import { runLeashed } from "../../packages/handlers/src/revision/leash.ts";
import { scratchName, sweepScratch } from "../../packages/handlers/src/revision/scratch.ts";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { placeOf, self, statOf } from "../../packages/handlers/src/supervisor/processes.mjs";

/** A repository in which `git add` waits in a program of the repository until there is a file `go` above it. */
async function slowRepository() {
  const folder = await temporaryFolder();
  const [work, scratch] = [join(folder, "work"), join(folder, "tmp")];
  for (const path of [work, scratch, join(work, "inner")]) await mkdir(path);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: work, stdio: "ignore" });
  git("init", "-q");
  await writeFile(join(folder, "clean.sh"), `#!/bin/sh\necho $$ > '${folder}/pid'\nuntil [ -e '${folder}/go' ]; do sleep 0.05; done\ncat\n`);
  await chmod(join(folder, "clean.sh"), 0o755);
  git("config", "filter.slow.clean", `'${folder}/clean.sh'`);
  await writeFile(join(work, ".gitattributes"), "*.slow filter=slow\n");
  await writeFile(join(work, "inner", "a.slow"), "a\n");
  return { folder, work, scratch };
}
function takeRevision(work: string, scratch: string): ChildProcess & { readonly out: () => string; readonly err: () => string } {
  const child = spawn(process.execPath, [fixture("revision.ts"), work], { env: { PATH: process.env["PATH"], TMPDIR: scratch }, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.on("data", (part: Buffer) => { said.out += part.toString(); });
  child.stderr.on("data", (part: Buffer) => { said.err += part.toString(); });
  onTestFinished(() => void child.kill("SIGKILL"));
  return Object.assign(child, { out: () => said.out, err: () => said.err });
}
const pidIn = (path: string) => until(() => existsSync(path) && Number(readFileSync(path, "utf8").trim()), { what: `a pid in ${path}` });

test.each(["SIGKILL", "SIGTERM"] as const)("what takes a revision ends with its process by %s, and its temporary folder goes", async (signal) => {
  const { folder, work, scratch } = await slowRepository();
  const taking = takeRevision(work, scratch);
  const pid = await pidIn(join(folder, "pid"));
  expect(await readdir(scratch)).toEqual([expect.stringMatching(/^loopledger-revision-/)]);
  taking.kill(signal);
  await until(() => statOf(pid) === null, { what: "the end of what git had started" });
  await until(async () => (await readdir(scratch)).length === 0, { what: "the temporary folder to go" });
});

test("whoever waits is told after a while which repository is looked at, and that it is the one around the folder", async () => {
  const { folder, work, scratch } = await slowRepository();
  const taking = takeRevision(join(work, "inner"), scratch);
  await until(() => taking.err().includes("\n"), { what: "the sentence" });
  expect(taking.err()).toContain(`taking the revision of ${work} (the repository around this folder): every file`);
  await writeFile(join(folder, "go"), "");
  await until(() => taking.out().includes("\n"), { what: "the revision" });
  expect(taking.out()).toMatch(/^git:[0-9a-f]{64}\n$/);
  expect(await readdir(scratch)).toEqual([]);
});

test("a sweep removes what dead processes have left, and nothing else", async () => {
  const within = await temporaryFolder();
  const dead = spawn("true");
  const was = { place: placeOf(), pid: dead.pid ?? 0, start: statOf(dead.pid ?? 0)?.start ?? "1" };
  await until(() => dead.exitCode !== null, { what: "the end of the process" });
  const living = { place: placeOf(), ...self() };
  const make = (name: string) => mkdtemp(join(within, name));
  const aged = new Date(Date.now() - 48 * 3_600_000);
  const gone = [await make(scratchName(was)), await make(scratchName({ ...living, start: "1" })), await make("loopledger-revision-"), await make(scratchName({ ...living, place: "another" }))];
  for (const path of gone.slice(2)) await utimes(path, aged, aged);
  await writeFile(join(gone[0] ?? "", "index"), "x");
  const kept = [await make(scratchName(living)), await make(scratchName({ ...was, place: "another" })), await make("loopledger-other-")];
  await utimes(kept[0] ?? "", aged, aged);
  const link = join(within, `${scratchName(was)}link`);
  await symlink(within, link);
  const foreign = process.getuid?.() === 0 ? [await make(scratchName(was))] : [];
  for (const path of foreign) await chown(path, 65534, 65534);
  await sweepScratch(within);
  expect((await readdir(within)).map((name) => join(within, name)).sort()).toEqual([...kept, link, ...foreign].sort());
});

test("a folder of a dead process goes at the next revision", async () => {
  const { folder, work, scratch } = await slowRepository();
  await mkdir(join(scratch, `${scratchName({ place: placeOf(), pid: process.pid, start: "1" })}left`));
  await writeFile(join(folder, "go"), "");
  const taking = takeRevision(work, scratch);
  await until(() => taking.out().includes("\n"), { what: "the revision" });
  expect(await readdir(scratch)).toEqual([]);
});

test("a leashed program's failure, and one that is not there, are told", async () => {
  const scratch = await temporaryFolder();
  const at = { cwd: scratch, environment: { PATH: process.env["PATH"] ?? "" }, scratch };
  expect(await runLeashed({ argv: ["echo", "a b", "c"], ...at })).toBe("a b c\n");
  await expect(runLeashed({ argv: ["sh", "-c", "exit 3"], ...at })).rejects.toThrow("sh ended with 3");
  await expect(runLeashed({ argv: ["no-such-program"], ...at })).rejects.toThrow("no-such-program ended with 127");
  expect(existsSync(scratch)).toBe(true);
});
