// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of shell.
import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CycleEnd } from "@loopledger/shared/core/effects/handling";
import { expect, test } from "vitest";
import { type TaskChanges, fixture, makerTask, running, sessionId, stepsDouble, workbench } from "../../test/support.ts";

/** Runs one line of shell as a maker. */
async function runLine(line: string, { task = {}, options = {}, environment }: { task?: TaskChanges; options?: object; environment?: Record<string, string> } = {}) {
  const bench = await workbench();
  const used = environment === undefined ? bench : await workbench({ environment: { PATH: process.env["PATH"], ...environment } });
  const maker = used.make({ makers: { m: { exec: line, shell: true, ...options } } }).maker("m");
  const end = await maker?.run(makerTask(task), running());
  return { end: end as CycleEnd, bench: used };
}
function failedOf(end: CycleEnd) {
  if (end.kind !== "failed") throw new Error(`expected a failure, got ${JSON.stringify(end)}`);
  return end;
}

test("exit 0 is built, with what the result file says", async () => {
  const result = { summary: "Repaired", revision: "abc", usage: { costUsd: 0.5, tokensIn: 10, tokensOut: 2, model: "m-1" }, artifacts: [{ path: "a" }], note: "unknown keys are left out" };
  const { end } = await runLine(`printf '%s' '${JSON.stringify(result)}' > "$LOOPLEDGER_RESULT"; echo working`);
  expect(end).toEqual({
    kind: "built", log: { bytes: 8, tail: "working\n" },
    result: { summary: "Repaired", revision: "abc", usage: result.usage, artifacts: [{ path: "a" }] },
  });
});

test("without a result file the last line that it printed is the summary", async () => {
  const { end } = await runLine("echo one; echo two >&2; echo");
  expect(end).toMatchObject({ kind: "built", result: { summary: "two", revision: null, usage: {} }, log: { tail: "one\ntwo\n\n" } });
});

test("stdin is the input as JSON, or the task's text", async () => {
  const input = { sessionId, iteration: 3, goal: { goal: "half \ud83d an emoji" } };
  const json = await runLine("cat", { task: { input } });
  expect(JSON.parse((json.end as { log: { tail: string } }).log.tail)).toEqual(input);
  const prompt = await runLine("cat /dev/stdin", { task: { task: "Say it\nin two lines" }, options: { stdin: "prompt" } });
  expect(prompt.end).toMatchObject({ log: { tail: "Say it\nin two lines" } });
});

test("a program can open its standard streams by name", async () => {
  const { end } = await runLine("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin | wc -c");
  expect(end).toMatchObject({ kind: "built", log: { tail: expect.stringMatching(/^out\nerr\n\s*\d+\n$/) } });
});

test("its environment is an allow-list, what the operator names, and what the engine says", async () => {
  const { end } = await runLine("env", {
    options: { env: ["NAMED"] },
    environment: { HOME: "/h", LC_ALL: "C", TERM: "dumb", NODE_OPTIONS: "--no-warnings", AWS_SECRET: "hidden", NAMED: "handed on", LOOPLEDGER_TOKEN: "operator" },
  });
  const lines = (end as { log: { tail: string } }).log.tail.split("\n").filter((line) => line.includes("=")).map((line) => line.split("=")[0]);
  expect(new Set(lines)).toEqual(new Set([
    "HOME", "LC_ALL", "TERM", "PATH", "PWD", "NAMED", "LOOPLEDGER_RESULT", "LOOPLEDGER_TASK", "LOOPLEDGER_PROMPT_FILE", "LOOPLEDGER_IDEMPOTENCY_KEY",
    "LOOPLEDGER_STEP_URL", "LOOPLEDGER_STEP_TOKEN", "LOOPLEDGER_SESSION", "LOOPLEDGER_RUN", ...lines.filter((name) => name === "SHLVL" || name === "_" || name === "OLDPWD"),
  ]));
});

test("the task is in the environment and in a file; where it is too long for a variable the file has all of it", async () => {
  const task = "€".repeat(60_000);
  const { end } = await runLine('printf "%s " "${#LOOPLEDGER_TASK}"; wc -c < "$LOOPLEDGER_PROMPT_FILE"; printf "%s" "$LOOPLEDGER_IDEMPOTENCY_KEY"', { task: { task, input: {} } });
  const [shown, whole, key] = (end as { log: { tail: string } }).log.tail.trim().split(/\s+/);
  expect([Number(shown) > 30_000, Number(whole), key]).toEqual([true, 180_000, `maker:${sessionId}:goal:1`]);
});

test("what people advise stands behind the task, wherever it is told as text", async () => {
  const input = { context: { guidance: ["look at the session cookie first", "and keep the tests"] } };
  const { end } = await runLine('cat; echo; cat "$LOOPLEDGER_PROMPT_FILE"; printf "\\n%s" "$LOOPLEDGER_TASK"', { options: { stdin: "prompt" }, task: { task: "make it so", input } });
  const text = "make it so\n\nAdvice from people:\n- look at the session cookie first\n- and keep the tests";
  expect((end as { log: { tail: string } }).log.tail.trim()).toBe([text, text, text].join("\n"));
});

test("the folder of the loopledger command comes first on its PATH", async () => {
  const folder = (await workbench()).folder;
  const command = join(folder, "loopledger");
  await writeFile(command, "#!/bin/sh\necho found it\n");
  await chmod(command, 0o755);
  const bench = await workbench({ binFolder: folder });
  const end = await bench.make({ makers: { m: { exec: ["loopledger", "step"] } } }).maker("m")?.run(makerTask(), running());
  expect(end).toMatchObject({ kind: "built", result: { summary: "found it" } });
});

test("exit 75 is transient, and the result file may say when to come again", async () => {
  expect(failedOf((await runLine("exit 75")).end)).toMatchObject({ failure: "transient", code: "maker_exit_75" });
  const after = await runLine('echo \'{"retryAfterSeconds": 90, "error": "limit reached"}\' > "$LOOPLEDGER_RESULT"; exit 75');
  expect(failedOf(after.end)).toMatchObject({ failure: "transient", retryAfterSeconds: 90, message: "limit reached" });
  const bench = await workbench({ now: () => Date.parse("2030-01-01T00:00:00Z") });
  const maker = bench.make({ makers: { m: { exec: 'echo \'{"retryAt": "2030-01-01T00:02:00Z"}\' > "$LOOPLEDGER_RESULT"; exit 75', shell: true } } }).maker("m");
  expect(await maker?.run(makerTask(), running())).toMatchObject({ failure: "transient", retryAfterSeconds: 120 });
});

test("any other exit code is a failed attempt, unless the result file says that it was transient", async () => {
  expect(failedOf((await runLine("echo boom >&2; exit 3")).end)).toMatchObject({ failure: "deterministic", code: "maker_exit_3", message: "the maker ended with exit code 3: boom" });
  expect(failedOf((await runLine('echo \'{"failure":"transient"}\' > "$LOOPLEDGER_RESULT"; exit 1')).end)).toMatchObject({ failure: "transient" });
  expect(failedOf((await runLine('echo \'{"failure":"deterministic","error":"no access","usage":{"costUsd":2}}\' > "$LOOPLEDGER_RESULT"')).end))
    .toMatchObject({ failure: "deterministic", message: "no access", usage: { costUsd: 2 } });
  expect(failedOf((await runLine("kill -9 $$")).end)).toMatchObject({ failure: "deterministic", code: "maker_signal_SIGKILL" });
});

test("of a maker with effects outside only 75 says that nothing happened", async () => {
  const options = { effects: "external" };
  expect(failedOf((await runLine("exit 75", { options })).end).failure).toBe("transient");
  expect(failedOf((await runLine('echo \'{"failure":"transient"}\' > "$LOOPLEDGER_RESULT"; exit 1', { options })).end).failure).toBe("deterministic");
});

test("the same failure has the same fingerprint, whatever its figures, times and temporary paths", async () => {
  const first = failedOf((await runLine("echo 'at 10:31:07 case 4 failed in 12.5 ms, see /tmp/x-8231/log, id 9f8e7d6c'; exit 1")).end);
  const second = failedOf((await runLine("echo 'at 11:02:59 case 7 failed in 8 s, see /tmp/y-1/log, id 0a1b2c3d4e'; exit 1")).end);
  const other = failedOf((await runLine("echo 'out of memory'; exit 1")).end);
  expect(second.fingerprint).toBe(first.fingerprint);
  expect(other.fingerprint).not.toBe(first.fingerprint);
});

test("a result file that cannot be read is a failed attempt that says so", async () => {
  expect(failedOf((await runLine('printf \'{"summary": "ha\' > "$LOOPLEDGER_RESULT"')).end)).toMatchObject({ code: "maker_result_unreadable", failure: "deterministic" });
  expect(failedOf((await runLine('ln -s /etc/passwd "$LOOPLEDGER_RESULT"')).end)).toMatchObject({ code: "maker_result_unreadable" });
  expect(failedOf((await runLine('mkfifo "$LOOPLEDGER_RESULT"')).end)).toMatchObject({ code: "maker_result_unreadable" });
  expect(failedOf((await runLine('echo \'{"usage":{"costUsd":-1}}\' > "$LOOPLEDGER_RESULT"')).end).message).toMatch(/usage\.costUsd/);
});

test("a program or folder that is missing cannot start", async () => {
  const bench = await workbench();
  await writeFile(join(bench.folder, "plain.txt"), "no program");
  const handlers = bench.make({
    makers: { missing: { exec: ["./no-such-program"] }, plain: { exec: ["./plain.txt"] }, nowhere: { exec: ["true"], cwd: "no-such-folder" } },
  });
  for (const name of ["missing", "plain", "nowhere"]) {
    expect(await handlers.maker(name)?.run(makerTask(), running()), name).toMatchObject({ kind: "failed", failure: "deterministic", code: "cannot_start" });
  }
});

test("it runs in the folder that the config names", async () => {
  const bench = await workbench();
  await mkdir(join(bench.folder, "inner"));
  const end = await bench.make({ makers: { m: { exec: ["pwd"], cwd: "inner" } } }).maker("m")?.run(makerTask(), running());
  expect(end).toMatchObject({ result: { summary: join(bench.folder, "inner") } });
});

test("the time limit ends it, also where the budget allows less", async () => {
  expect(failedOf((await runLine("exec sleep 100", { options: { timeoutSeconds: 0.2 } })).end)).toMatchObject({ code: "maker_timeout", failure: "deterministic" });
  expect(failedOf((await runLine("exec sleep 100", { task: { wallSecondsLeft: 0.2 } })).end)).toMatchObject({ code: "wall_seconds", failure: "deterministic" });
});

test("silence ends it, and output puts that off", async () => {
  expect(failedOf((await runLine("echo one; exec sleep 100", { options: { idleSeconds: 3 } })).end)).toMatchObject({ code: "maker_idle", log: { tail: "one\n" } });
  const { end } = await runLine("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done", { options: { idleSeconds: 3 } });
  expect(end.kind).toBe("built");
});

test("after a call that was answered 423 its exit code does not matter", async () => {
  const { api } = stepsDouble({ tool: { ok: false, status: 423, code: "approval_pending", detail: "a person decides" } });
  const { end } = await runLine(
    `node ${fixture("step-call.mjs")} tools/deploy '{"args":{}}'; exit 9`, { task: { steps: api } });
  expect(end).toMatchObject({ kind: "suspended", log: { tail: expect.stringMatching(/^423 .*approval_pending/) } });
});

test("after a call that was answered stale_owner it counts as stopped", async () => {
  const { api } = stepsDouble({ tool: { ok: false, status: 409, code: "stale_owner", detail: "moved" } });
  const { end } = await runLine(`node ${fixture("step-call.mjs")} tools/deploy '{}'`, { task: { steps: api } });
  expect(end).toEqual({ kind: "stopped" });
});

test("secrets that it is handed are taken out of what it prints and says", async () => {
  const secret = "s3cr3t-canary-0123456789";
  const { end, bench } = await runLine(
    'printf "%s" "${API_KEY%??????}"; sleep 0.1; printf "%s\\n" "${API_KEY#??????????????????}"; echo "$LOOPLEDGER_STEP_TOKEN"; printf \'{"summary":"%s"}\' "$API_KEY" > "$LOOPLEDGER_RESULT"',
    { options: { env: ["API_KEY"] }, environment: { API_KEY: secret } });
  expect(end).toMatchObject({ kind: "built", result: { summary: "[redacted]" }, log: { tail: "[redacted]\n[redacted]\n" } });
  expect(JSON.stringify(end)).not.toContain(secret);
  expect(await readdir(bench.sessionPath)).toEqual([]);
});

const hostile = ["; touch canary", "$(touch canary)", "`touch canary`", "| touch canary", "--version", "-rf .", "a\nb\ntouch canary", "\0touch canary", "'; touch canary; '", "\"; touch canary; \"", "${IFS}touch${IFS}canary", "../../../etc/passwd", "%s%n"];
test.each(hostile)("text of a goal is data only: %j", async (text) => {
  const bench = await workbench();
  await writeFile(join(bench.folder, "agent.sh"), '#!/bin/sh\necho "$#" > arguments\ncat > input\n');
  await chmod(join(bench.folder, "agent.sh"), 0o755);
  const maker = bench.make({ makers: { m: { exec: ["./agent.sh"] } } }).maker("m");
  const end = await maker?.run(makerTask({ task: text, input: { goal: { goal: text }, task: text } }), running());
  expect(end).toMatchObject({ kind: "built" });
  expect((await readdir(bench.folder)).sort()).toEqual([".loopledger", "agent.sh", "arguments", "input"]);
  expect(await readFile(join(bench.folder, "arguments"), "utf8")).toBe("0\n");
  expect(JSON.parse(await readFile(join(bench.folder, "input"), "utf8"))).toEqual({ goal: { goal: text }, task: text });
});
