import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckRun } from "@loopledger/shared/core/effects/handling";
import { expect, test } from "vitest";
import { checkTask, fixture, running, stepsDouble, workbench } from "../../test/support.ts";

async function runLine(line: string, options: object = {}): Promise<CheckRun> {
  const bench = await workbench();
  const check = bench.make({ checks: { c: { exec: line, shell: true, ...options } } }).check("c");
  return (await check?.run(checkTask({ task: "Mend the login" }), running())) as CheckRun;
}
const validation = (text: string) => `cat > "$LOOPLEDGER_VALIDATION" <<'END'\n${text}\nEND\n`;

test("exit 0 is PASS with what it printed as evidence", async () => {
  expect(await runLine("echo 12 tests passed")).toEqual({
    verdict: "PASS", nextSteps: [], evidence: { exitCode: 0, output: "12 tests passed\n" }, revision: null, cannotStart: false, usage: {},
    log: { bytes: 16, tail: "12 tests passed\n" },
  });
});

test("exit 1 to 123 is FAIL with one next step made of the task and the end of the output", async () => {
  const run = await runLine("echo 1 test failed; exit 1");
  expect(run).toMatchObject({ verdict: "FAIL", nextSteps: ["Mend the login\n\nThe check says:\n1 test failed"], evidence: { exitCode: 1 } });
  expect((await runLine("exit 123")).verdict).toBe("FAIL");
});

test("a second FAIL says what the check says now, and nothing of what it said before", async () => {
  const bench = await workbench();
  const check = bench.make({ checks: { c: { exec: "cat report; exit 1", shell: true } } }).check("c");
  let task = "Mend the login";
  for (const report of ["first report", "second report", "third report"]) {
    await writeFile(join(bench.folder, "report"), `${report}\n`);
    const run = await check?.run(checkTask({ title: "Mend the login", task }), running());
    expect(run?.nextSteps).toEqual([`Mend the login\n\nThe check says:\n${report}`]);
    task = run?.nextSteps[0] as string;
  }
});

test("a next step holds the end of a long output, not its beginning", async () => {
  const run = await runLine("echo the oldest line; yes filler | head -n 20000; echo the newest line; exit 1");
  const [step] = run.nextSteps as string[];
  expect(step).toMatch(/^Mend the login\n\nThe check says:\n[\s\S]*\nthe newest line$/);
  expect(step).not.toContain("the oldest line");
  expect(step?.length).toBeLessThanOrEqual(4100);
});

test.each([["exit 75"], ["exit 124"], ["exit 125"], ["exit 255"], ["kill -TERM $$"], ["kill -9 $$"]])("%s is INCONCLUSIVE", async (line) => {
  expect(await runLine(line)).toMatchObject({ verdict: "INCONCLUSIVE", cannotStart: false, nextSteps: [] });
});

test.each([
  ["echo begun; echo the database is down >&2; echo; exit 75", "the check ended with exit code 75: the database is down"],
  ["echo no room is left; kill -9 $$", "the check was ended by SIGKILL: no room is left"],
  ["exit 75", "the check ended with exit code 75"],
])("without a verdict its last words say why: %s", async (line, why) => {
  expect(await runLine(line)).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why } });
});

test("a program or folder that is missing cannot start, said by the system or by a shell", async () => {
  const bench = await workbench();
  const handlers = bench.make({
    checks: { missing: { exec: ["no-such-program"] }, shell: { exec: "no-such-program", shell: true }, folder: { exec: ["true"], cwd: "no-such-folder" } },
  });
  for (const name of ["missing", "shell", "folder"]) {
    expect(await handlers.check(name)?.run(checkTask(), running()), name).toMatchObject({ verdict: "INCONCLUSIVE", cannotStart: true });
  }
});

test("a check that hangs is INCONCLUSIVE", async () => {
  const run = await runLine("echo begun; exec sleep 100", { timeoutSeconds: 3 });
  expect(run).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why: "the check did not end within 3 s", output: "begun\n" } });
});

test("a validation file speaks instead of the exit code", async () => {
  const file = { verdict: "FAIL", evidence: { remaining: 2 }, next_steps: ["do a", "do b"], revision: "r7", usage: { costUsd: 1 }, citations: ["x"], fingerprint: "f" };
  expect(await runLine(`${validation(JSON.stringify(file))}exit 0`)).toMatchObject({
    verdict: "FAIL", evidence: { remaining: 2 }, nextSteps: ["do a", "do b"], revision: "r7", usage: { costUsd: 1 }, citations: ["x"], fingerprint: "f",
  });
});

test("contradictions of a validation file are passed on as they stand", async () => {
  expect(await runLine(validation('{"verdict":"PASS","evidence":{},"next_steps":["more"]}'))).toMatchObject({ verdict: "PASS", nextSteps: ["more"] });
  expect(await runLine(validation('{"verdict":"FAIL","evidence":{},"next_steps":[]}'))).toMatchObject({ verdict: "FAIL", nextSteps: [] });
});

test.each([
  ["half-written JSON", '{"verdict":"PASS","next_st', /not JSON/],
  ["no next_steps", '{"verdict":"PASS","evidence":{}}', /: next_steps is missing\. It needs verdict \(PASS, FAIL or INCONCLUSIVE\) and next_steps/],
  ["another verdict", '{"verdict":"pass","next_steps":[]}', /verdict/],
  ["a list", "[]", /does not fit/],
  ["nothing", "", /not JSON/],
  ["a goal as next step", '{"verdict":"FAIL","next_steps":[{"goal":{"goal":"g"}}]}', /next step that is a goal/],
  ["a next step that is empty", '{"verdict":"FAIL","next_steps":[" "]}', /next_steps\.0/],
  ["a prototype key", '{"verdict":"PASS","next_steps":[],"evidence":{"__proto__":{"x":1}}}', /__proto__/],
])("a validation file with %s is INCONCLUSIVE", async (_, text, why) => {
  const run = await runLine(validation(text));
  expect(run).toMatchObject({ verdict: "INCONCLUSIVE", nextSteps: [], evidence: { why: expect.stringMatching(why) } });
});

test("100,000 next steps and 100,000 levels are INCONCLUSIVE, never cut", async () => {
  const many = await runLine(`node -e 'require("fs").writeFileSync(process.env.LOOPLEDGER_VALIDATION, JSON.stringify({verdict:"FAIL",evidence:{},next_steps:Array(1e5).fill("x")}))'`);
  expect(many).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why: expect.stringMatching(/next_steps/) } });
  const deep = await runLine(`node -e 'require("fs").writeFileSync(process.env.LOOPLEDGER_VALIDATION, "[".repeat(1e5)+"]".repeat(1e5))'`);
  expect(deep).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why: expect.stringMatching(/nested/) } });
  const large = await runLine(`node -e 'require("fs").writeFileSync(process.env.LOOPLEDGER_VALIDATION, JSON.stringify({verdict:"FAIL",evidence:{},next_steps:["x".repeat(1.1e7)]}))'`);
  expect(large).toMatchObject({ verdict: "INCONCLUSIVE", evidence: { why: expect.stringMatching(/larger than 1048576 bytes/) } });
});

test("half characters and NUL in a validation file are repaired", async () => {
  const run = await runLine(validation('{"verdict":"FAIL","evidence":{"said":"\\ud83d and \\u0000"},"next_steps":["mend \\udc00 it"]}'));
  expect(run).toMatchObject({ verdict: "FAIL", evidence: { said: "\uFFFD and \uFFFD" }, nextSteps: ["mend \uFFFD it"] });
});

test("what it printed is cut between whole characters", async () => {
  const run = await runLine(`node -e 'process.stdout.write("x" + "😀".repeat(5000)); process.exitCode = 1'`);
  expect(run.log?.tail.isWellFormed()).toBe(true);
  expect(run.log?.tail).toMatch(/^(😀)+$/u);
  expect(run.nextSteps[0]).toSatisfy((step: string) => step.isWellFormed() && step.includes("😀"));
  expect(run.log).toMatchObject({ bytes: 20_001, blob: expect.stringMatching(/^sha256:/) });
});

test("a file that it wrote does not save a check that was killed, or that says it could not run", async () => {
  const pass = validation('{"verdict":"PASS","evidence":{},"next_steps":[]}');
  for (const end of ["kill -9 $$", "exit 75", "exit 124", "exit 127"]) expect((await runLine(`${pass}${end}`)).verdict, end).toBe("INCONCLUSIVE");
});

test("a check has no tools", async () => {
  const { api, asked } = stepsDouble();
  const bench = await workbench();
  const line = `node ${fixture("step-call.mjs")} tools/deploy '{"args":{}}'; node ${fixture("step-call.mjs")} budget`;
  const run = await bench.make({ checks: { c: { exec: line, shell: true } } }).check("c")?.run(checkTask({ steps: api }), running());
  expect(run?.log?.tail).toMatch(/^404 .*"code":"unknown_tool".*\n200 .*"iterations"/);
  expect(asked).toEqual([["budget"]]);
});

test("told to stop it says so and has no verdict", async () => {
  const bench = await workbench();
  const stop = new AbortController();
  const check = bench.make({ checks: { c: { exec: "echo up; exec sleep 100", shell: true } } }).check("c");
  const run = await check?.run(checkTask(), { signal: stop.signal, live: () => stop.abort() });
  expect(run?.verdict).toBe("STOPPED");
});
