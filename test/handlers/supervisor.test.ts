// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of shell.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { fixture, makerTask, running, temporaryFolder, workbench } from "../../packages/handlers/test/support.ts";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { isAlive, placeOf, self, statOf } from "../../packages/handlers/src/supervisor/processes.mjs";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { newRecord, readRecords, writeRecord } from "../../packages/handlers/src/supervisor/records.mjs";
import { endStale } from "../../packages/handlers/src/supervisor/stale.ts";

/** Starts a worker process that runs `line` as a maker in `folder`. */
function startWorker(folder: string, line: string, epoch = 1): ChildProcess & { readonly text: () => string } {
  const worker = spawn(process.execPath, [fixture("worker.ts"), folder, line, String(epoch)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  worker.stdout?.on("data", (part: Buffer) => {
    text += part.toString();
  });
  onTestFinished(() => void worker.kill("SIGKILL"));
  return Object.assign(worker, { text: () => text });
}
const pidIn = (path: string) => until(() => existsSync(path) && Number(readFileSync(path, "utf8").trim()), { what: `a pid in ${path}` });
const gone = (pid: number) => until(() => statOf(pid) === null, { what: `the end of ${pid}` });
const quiet = "trap '' TERM HUP INT;";

test("a worker that is killed takes its maker along, also one that ignores SIGTERM", async () => {
  const folder = await temporaryFolder();
  const worker = startWorker(folder, `${quiet} echo $$ > pid; while :; do sleep 1; done`);
  const pid = await pidIn(join(folder, "pid"));
  worker.kill("SIGKILL");
  await gone(pid);
  await until(async () => (await readdir(join(folder, "session"))).length === 0, { what: "its record and its files to be removed" });
});

test("so it does with children in sessions and groups of their own, and with orphans", async () => {
  const folder = await temporaryFolder();
  const line = `(setsid sh -c "${quiet} echo \\$\\$ > far; while :; do sleep 1; done" &) ; (sh -c "${quiet} echo \\$\\$ > near; while :; do sleep 1; done" &) ; echo $$ > pid; while :; do sleep 1; done`;
  const worker = startWorker(folder, line);
  const pids = await Promise.all(["pid", "far", "near"].map((name) => pidIn(join(folder, name))));
  worker.kill("SIGKILL");
  await Promise.all(pids.map(gone));
});

test("what a maker leaves behind at its own end is ended, and holds nothing up", async () => {
  const bench = await workbench();
  const line = `setsid sh -c '${quiet} echo $$ > far; while :; do sleep 1; done' & sh -c '${quiet} echo $$ > near; exec sleep 100' & until [ -s far ] && [ -s near ]; do sleep 0.05; done; echo done`;
  const end = await bench.make({ makers: { m: { exec: line, shell: true } } }).maker("m")?.run(makerTask(), running());
  expect(end).toMatchObject({ kind: "built", result: { summary: "done" } });
  for (const name of ["far", "near"]) expect(statOf(Number(await readFile(join(bench.folder, name), "utf8"))), name).toBeNull();
});

test("a descendant that hides its environment is ended with the others", async () => {
  const bench = await workbench();
  const stop = new AbortController();
  const line = "env -i PATH=\"$PATH\" setsid --wait sh -c 'echo $$ > hidden; exec sleep 100'";
  const run = bench.make({ makers: { m: { exec: line, shell: true } } }).maker("m")?.run(makerTask(), running(stop.signal));
  const pid = await pidIn(join(bench.folder, "hidden"));
  stop.abort();
  expect(await run).toEqual({ kind: "stopped" });
  expect(statOf(pid)).toBeNull();
});

test("told to stop it may end itself within the grace", async () => {
  const bench = await workbench();
  const stop = new AbortController();
  const line = "trap 'echo bye > last; exit 0' TERM; echo up; while :; do sleep 0.1; done";
  const end = await bench.make({ makers: { m: { exec: line, shell: true } } }).maker("m")?.run(makerTask(), { signal: stop.signal, live: () => stop.abort() });
  expect(end).toEqual({ kind: "stopped" });
  expect(await readFile(join(bench.folder, "last"), "utf8")).toBe("bye\n");
});

test("a run that is told to stop before it began starts nothing", async () => {
  const bench = await workbench();
  const end = await bench.make({ makers: { m: { exec: ["touch", "canary"] } } }).maker("m")?.run(makerTask(), running(AbortSignal.abort()));
  expect(end).toEqual({ kind: "stopped" });
  expect(existsSync(join(bench.folder, "canary"))).toBe(false);
});

test("a worker that is stopped and goes on has lost nothing", async () => {
  const folder = await temporaryFolder();
  const worker = startWorker(folder, "echo first; touch begun; until [ -e go ]; do sleep 0.05; done; seq 1 20000; touch printed; echo last");
  await until(() => existsSync(join(folder, "begun")), { what: "the maker to begin" });
  worker.kill("SIGSTOP");
  await writeFile(join(folder, "go"), "");
  // The pipe takes 64 KiB; then the maker waits for its reader.
  await until(() => statOf(worker.pid ?? 0)?.state === "T", { what: "the worker to stand still" });
  expect(existsSync(join(folder, "printed"))).toBe(false);
  worker.kill("SIGCONT");
  await until(() => worker.text().endsWith("\n"), { what: "the worker's report" });
  const end = JSON.parse(worker.text()) as { kind: string; log: { bytes: number; tail: string } };
  expect(end.kind).toBe("built");
  expect(end.log.bytes).toBe("first\nlast\n".length + Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join("").length);
});

test("a maker whose supervisor is killed is ended by its worker", async () => {
  const bench = await workbench();
  const maker = bench.make({ makers: { m: { exec: `${quiet} echo $$ > pid; while :; do sleep 1; done`, shell: true } } }).maker("m");
  const run = maker?.run(makerTask(), running());
  const pid = await pidIn(join(bench.folder, "pid"));
  const { supervisor } = await until(() => readRecords(bench.sessionPath).find((found) => found.group?.pid === pid), { what: "the record" });
  process.kill(supervisor.pid, "SIGKILL");
  expect(await run).toMatchObject({ kind: "failed", failure: "transient", code: "supervisor_lost" });
  expect(statOf(pid)).toBeNull();
});

test("a later owner ends what an earlier one still runs, before its own maker starts", async () => {
  const folder = await temporaryFolder();
  startWorker(folder, `${quiet} echo $$ > one; while :; do echo one >> log; sleep 0.05; done`, 1);
  const one = await pidIn(join(folder, "one"));
  // It reports whether the first one lives when it begins.
  const later = startWorker(folder, `kill -0 ${one} 2>/dev/null && [ "$(cut -d' ' -f3 /proc/${one}/stat)" != Z ] && echo overlap || echo alone`, 2);
  await until(() => later.text().endsWith("\n"), { what: "the later worker's report" });
  expect(JSON.parse(later.text())).toMatchObject({ kind: "built", result: { summary: "alone" } });
});

test("a function of a later owner begins once the earlier one's program is gone, one of an earlier owner leaves it alone", async () => {
  const bench = await workbench();
  const sessionFolder = join(bench.folder, "session");
  startWorker(bench.folder, "echo $$ > pid; while :; do sleep 1; done", 5);
  const pid = await pidIn(join(bench.folder, "pid"));
  const handlers = (await workbench({ sessionFolder: () => sessionFolder })).make({ makers: { m: { fn: () => (statOf(pid) === null ? "alone" : "overlap") } } });
  expect(await handlers.maker("m")?.run(makerTask({ epoch: 4 }), running())).toMatchObject({ result: { summary: "overlap" } });
  expect(await handlers.maker("m")?.run(makerTask({ epoch: 6 }), running())).toMatchObject({ result: { summary: "alone" } });
});

test("a program has no descriptor of its worker or supervisor", async () => {
  const bench = await workbench();
  const end = await bench.make({ makers: { m: { exec: "for f in /proc/$$/fd/*; do echo \"${f##*/}=$(readlink $f)\"; done", shell: true } } }).maker("m")?.run(makerTask(), running());
  const lines = (end as { log: { tail: string } }).log.tail.trim().split("\n");
  expect(lines.filter((line) => line.includes("socket:"))).toEqual([]);
  expect(lines.filter((line) => /^[012]=/.test(line))).toEqual([expect.stringMatching(/stdin$/), expect.stringMatching(/output$/), expect.stringMatching(/output$/)]);
});

test("an owner of a lower epoch yields to one of a higher", async () => {
  const folder = await temporaryFolder();
  startWorker(folder, "echo $$ > two; while :; do sleep 1; done", 2);
  const two = await pidIn(join(folder, "two"));
  const earlier = startWorker(folder, "touch canary", 1);
  await until(() => earlier.text().endsWith("\n"), { what: "the earlier worker's report" });
  expect(JSON.parse(earlier.text())).toEqual({ kind: "stopped" });
  expect(existsSync(join(folder, "canary"))).toBe(false);
  expect(statOf(two)).not.toBeNull();
});

test("two runs of one session in one process follow each other", async () => {
  const bench = await workbench();
  const line = "mkdir lock || echo overlap; sleep 0.2; rmdir lock; echo alone";
  const maker = bench.make({ makers: { m: { exec: line, shell: true } } }).maker("m");
  const ends = await Promise.all([1, 2, 3].map((epoch) => maker?.run(makerTask({ epoch }), running())));
  for (const end of ends) expect(end).toMatchObject({ kind: "built", log: { tail: "alone\n" } });
});

test("endStale ends a recorded run of a worker that is gone or stands still", async () => {
  const folder = await temporaryFolder();
  const worker = startWorker(folder, `${quiet} echo $$ > pid; while :; do sleep 1; done`);
  const pid = await pidIn(join(folder, "pid"));
  worker.kill("SIGSTOP");
  expect(await endStale(join(folder, "session"), { graceMs: 100 })).toBe(true);
  expect(statOf(pid)).toBeNull();
  expect(readRecords(join(folder, "session"))).toEqual([]);
});

test("endStale never hits a process that has a recorded pid by chance", async () => {
  const folder = await temporaryFolder();
  const bystander = spawn("sleep", ["100"], { detached: true });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  const pid = await until(() => bystander.pid, { what: "the bystander" });
  const record = newRecord({ run: "0".repeat(32), kind: "cycle", epoch: 1 });
  const recycled = { ...record, supervisor: { pid, start: String(BigInt(self().start) - 1n) }, group: { pid, start: String(BigInt(self().start) - 1n) } };
  writeRecord(folder, recycled);
  expect(await endStale(folder, { graceMs: 50 })).toBe(true);
  expect(isAlive({ pid, start: statOf(pid)?.start ?? "" })).toBe(true);
  expect(readRecords(folder)).toEqual([]);
});

test("a record of another boot is dropped, one of another pid namespace is left alone", async () => {
  const folder = await temporaryFolder();
  await mkdir(folder, { recursive: true });
  const [boot = "", namespace = ""] = placeOf().split(" ");
  const record = newRecord({ run: "1".repeat(32), kind: "cycle", epoch: 1 });
  writeRecord(folder, { ...record, place: `another-boot ${namespace}` });
  writeRecord(folder, { ...record, run: "2".repeat(32), place: `${boot} pid:[1]` });
  await endStale(folder, { graceMs: 50 });
  expect(readRecords(folder).map((left) => left.run)).toEqual(["2".repeat(32)]);
});

test("endStale leaves alone what this process runs itself", async () => {
  const bench = await workbench();
  const run = bench.make({ makers: { m: { exec: "echo $$ > pid; until [ -e go ]; do sleep 0.05; done", shell: true } } }).maker("m")?.run(makerTask(), running());
  const pid = await pidIn(join(bench.folder, "pid"));
  expect(await endStale(bench.sessionPath)).toBe(true);
  expect(statOf(pid)).not.toBeNull();
  await writeFile(join(bench.folder, "go"), "");
  expect(await run).toMatchObject({ kind: "built" });
});
