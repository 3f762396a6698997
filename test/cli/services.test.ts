import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { freePorts } from "@loopledger/infra/ports";
import { until } from "../support/until.ts";
import { type Running, Workshop, holding, twoLines, patienceMs } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(() => shop.close());

/** A project whose goal is done at the second iteration. */
function project(): void {
  twoLines(shop);
  shop.write("loopledger.config.ts", 'import { defineConfig, exec } from "loopledger";\nexport default defineConfig({ makers: { m: exec(["./maker.sh"]) }, checks: { c: exec(["./check.sh"]) } });\n');
  shop.write("goals/two.yaml", "id: two\ngoal: Two lines\nmaker: m\ncheck: c\n");
}
const portOf = async (running: Running): Promise<number> =>
  Number((await until(() => /http:\/\/127\.0\.0\.1:(\d+)|on port (\d+)/.exec(running.out() + running.err()), { what: "the port", timeoutMs: patienceMs / 2 })).slice(1).find(Boolean));

describe("dev", () => {
  test("--once carries the project's goals and leaves with their code; told again it says that they are done", async () => {
    project();
    const first = await shop.run("dev", "--once", "--port", "0");
    expect(first).toMatchObject({ code: 0 });
    expect(first.out).toMatch(/◆ goal {5}Two lines[\s\S]*iteration 2[\s\S]*★ receipt[\s\S]*done {2}two/);
    const again = await shop.run("dev", "--once", "--port", "0");
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/two is known: it is done already \(not checked again: `\S*loopledger verify two` does so[\s\S]*receipt {4}at seq 13/) });
    expect(shop.lines("work")).toHaveLength(2);
  });

  test("--once carries what was submitted beside the project's goals too, before it leaves", async () => {
    project();
    shop.write("extra.yaml", "id: extra\ngoal: Once more\nmaker: m\ncheck: c\n");
    await shop.run("submit", "extra.yaml");
    expect(await shop.run("dev", "--once", "--port", "0")).toMatchObject({ code: 0 });
    for (const id of ["extra", "two"]) expect(await shop.run("status", id, "--exit-code")).toMatchObject({ code: 0 });
  });

  test("--once leaves with the code of a goal that waits", async () => {
    project();
    shop.write("goals/two.yaml", "id: two\ngoal: Two lines\nmaker: m\ncheck: c\nbudget: { iterations: 1 }\n");
    expect(await shop.run("dev", "--once", "--port", "0")).toMatchObject({ code: 4, out: expect.stringContaining("waiting (budget exhausted)") });
  });

  test("serves until it is told to stop, and leaves with 0", async () => {
    project();
    const dev = shop.start(["dev", "--port", "0"]);
    await until(() => dev.out().includes("done  two"), { what: "the ending of the goal", timeoutMs: patienceMs / 2 });
    const port = await portOf(dev);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(dev.out()).toContain(`This is process ${dev.pid}; Ctrl-C ends it.`);
    await until(() => dev.out().includes("goes on serving"), { what: "what comes after the ending", timeoutMs: patienceMs / 2 });
    dev.process.kill("SIGTERM");
    expect(await dev.ended).toMatchObject({ code: 0 });
  });

  test("a second one on the same folder and port says who is there; with --once it works all the same", async () => {
    project();
    // None of those that the system hands out by itself: they may be taken between two of these starts.
    const [port = 0] = await freePorts(1);
    const probe = createServer().listen(port, "127.0.0.1");
    await until(() => probe.listening, { what: "a port of its own", timeoutMs: patienceMs / 2 });
    expect(await shop.run("dev", "--port", String(port))).toMatchObject({ code: 1, err: expect.stringMatching(new RegExp(`Port ${port} is taken[\\s\\S]*--port`)) });
    await new Promise((done) => probe.close(done));
    const first = shop.start(["dev", "--port", String(port)]);
    await until(() => first.out().includes("done  two"), { what: "the ending of the goal", timeoutMs: patienceMs / 2 });
    const second = await shop.run("dev", "--port", String(port));
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining(`Another loopledger dev (process ${first.pid})`) });
    const elsewhere = await shop.run("dev", "--port", String(port), "--data", "elsewhere");
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringMatching(new RegExp(`process ${first.pid}\\) works on \\S+/\\.loopledger[\\s\\S]*--port 0`)) });
    first.process.kill("SIGINT");
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  test("killed with -9 in the midst and started again, the same session goes on", async () => {
    project();
    shop.write("maker.sh", "#!/bin/sh\necho $$ >> pids\nwhile [ ! -f go ]; do sleep 0.05; done\necho built >> work\n");
    const first = shop.start(["dev", "--port", "0"]);
    await shop.until("pids");
    first.process.kill("SIGKILL");
    await first.ended;
    shop.write("go", "");
    const again = await shop.run("dev", "--once", "--port", "0");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("two goes on where it was.") });
    expect((await shop.records("two")).filter((record) => record.type === "goal_submitted")).toHaveLength(1);
  });

  test("prepare runs before the first step, and its failure is told with what it printed", async () => {
    project();
    shop.write("loopledger.config.yaml", "prepare: { exec: [sh, -c, 'echo prepared > ready; echo built > work'] }\nmakers: { m: { exec: [./maker.sh] } }\nchecks: { c: { exec: [./check.sh] } }\n");
    expect(await shop.run("dev", "--once", "--port", "0", "--config", "loopledger.config.yaml")).toMatchObject({ code: 0 });
    expect(shop.lines("work")).toHaveLength(2);
    shop.write("bad.yaml", "prepare: { exec: [sh, -c, 'echo no disk; exit 3'] }\nmakers: { m: { exec: [./maker.sh] } }\nchecks: { c: { exec: [./check.sh] } }\n");
    expect(await shop.run("dev", "--once", "--config", "bad.yaml")).toMatchObject({ code: 1, err: expect.stringMatching(/left with 3[\s\S]*no disk/) });
  });

  test("with --json each record is a row with its cursor", async () => {
    project();
    const { out, code } = await shop.run("dev", "--once", "--port", "0", "--json");
    expect(code).toBe(0);
    const rows = out.trim().split("\n").map((line) => JSON.parse(line));
    expect(rows.map((row) => row.cursor)).toEqual(rows.map((_row, index) => index + 1));
    expect(rows.at(-1)).toMatchObject({ type: "status", data: { disposition: "done" } });
  });
});

describe("serve", () => {
  test("says ready, has its port open, carries what is submitted, and leaves with 0", async () => {
    project();
    const roles = shop.start(["serve", "--roles", "scheduler,worker,checker,projector", "--port", "0"]);
    await until(() => /^ready$/m.test(roles.out()), { what: "ready", timeoutMs: patienceMs / 2 });
    const port = await portOf(roles);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).toBe(200);
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain("loopledger_sessions_carried 0");
    expect((await fetch(`http://127.0.0.1:${port}/v1/sessions`)).status).toBe(404);
    expect(await shop.run("submit", "goals/two.yaml", "--wait")).toMatchObject({ code: 0 });
    roles.process.kill("SIGTERM");
    expect(await roles.ended).toMatchObject({ code: 0, out: "ready\n" });
  });

  test("listens where LOOPLEDGER_PORT says, and where --port says before that", async () => {
    project();
    const [port = 0, other = 0] = await freePorts(2);
    const named = shop.start(["serve", "--roles", "projector"], { LOOPLEDGER_PORT: String(port) });
    const asked = shop.start(["serve", "--roles", "projector", "--port", String(other)], { LOOPLEDGER_PORT: String(port) });
    for (const one of [named, asked]) await until(() => /^ready$/m.test(one.out()), { what: "ready", timeoutMs: patienceMs / 2 });
    expect([await portOf(named), await portOf(asked)]).toEqual([port, other]);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  test("several processes share one data folder, each with its roles", async () => {
    project();
    const scheduler = shop.start(["serve", "--roles", "scheduler"]);
    const worker = shop.start(["serve", "--roles", "worker"]);
    const checker = shop.start(["serve", "--roles", "checker"]);
    for (const one of [scheduler, worker, checker]) await until(() => /^ready$/m.test(one.out()), { what: "ready", timeoutMs: patienceMs / 2 });
    expect(await shop.run("submit", "goals/two.yaml", "--wait")).toMatchObject({ code: 0 });
    expect(shop.lines("work")).toHaveLength(2);
    const pids = (await shop.records("two")).filter((record) => record.type === "claimed").map((record) => (record.data["host"] as { pid: number }).pid);
    expect([...new Set(pids)].sort()).toEqual([worker.pid, checker.pid].sort());
  });

  test("never claims a session that a run brought its own commands for", async () => {
    project();
    shop.write("own.sh", "#!/bin/sh\necho begun > begun\nwhile [ ! -f go ]; do sleep 0.05; done\n");
    const words = ["run", "own commands", "--maker", "./own.sh", "--check", "test -f own", "--id", "own"];
    const run = shop.start(words);
    await shop.until("begun");
    run.process.kill("SIGKILL");
    await run.ended;
    const roles = shop.start(["serve", "--roles", "scheduler,worker,checker"]);
    await until(() => /^ready$/m.test(roles.out()), { what: "ready", timeoutMs: patienceMs / 2 });
    expect(await shop.run("submit", "goals/two.yaml", "--wait")).toMatchObject({ code: 0 });
    expect((await shop.records("own")).filter((record) => record.type === "claimed")).toHaveLength(1);
    expect(await shop.run("advance", "own")).toMatchObject({ code: 2, err: expect.stringContaining("--id own") });
  });

  test("a worker without a config is refused, because it would set every session aside", async () => {
    expect(await shop.run("serve", "--roles", "worker")).toMatchObject({ code: 2, err: expect.stringContaining("no loopledger.config") });
  });
});

describe("advance", () => {
  test("does one cycle a call, and a loop around it brings the session to its end", async () => {
    project();
    expect(await shop.run("submit", "goals/two.yaml")).toMatchObject({ code: 0 });
    const codes: (number | string)[] = [];
    do codes.push((await shop.run("advance", "two")).code);
    while (codes.at(-1) === 8 && codes.length < 10);
    expect(codes).toEqual([8, 8, 8, 8, 0]);
    expect(await shop.run("advance", "two")).toMatchObject({ code: 0 });
    expect(shop.lines("work")).toHaveLength(2);
  });
  test("a session that somebody holds is 9", async () => {
    project();
    shop.write("maker.sh", "#!/bin/sh\necho $$ >> pids\nwhile [ ! -f go ]; do sleep 0.05; done\necho built >> work\n");
    const dev = shop.start(["dev", "--port", "0"], holding);
    await shop.until("pids");
    expect(await shop.run("advance", "two")).toMatchObject({ code: 9, err: expect.stringContaining(`(${dev.pid})`) });
    expect(shop.lines("pids")).toHaveLength(1);
  });
  test("a retry that is not due is 8 within the second that it sleeps", async () => {
    project();
    shop.write("maker.sh", "#!/bin/sh\necho tried >> tries\nprintf '{\"failure\":\"transient\",\"retryAfterSeconds\":600}' > \"$LOOPLEDGER_RESULT\"\nexit 75\n");
    await shop.run("submit", "goals/two.yaml");
    await shop.run("advance", "two");
    expect(await shop.run("advance", "two")).toMatchObject({ code: 8 });
    expect(await shop.run("advance", "two")).toMatchObject({ code: 8 });
    expect(shop.lines("tries")).toHaveLength(1);
  });
});

describe("init", () => {
  test.each(["repair", "daily-triage"])("the pattern %s makes a project that runs to its receipt", async (pattern) => {
    expect(await shop.run("init", "project", "--pattern", pattern)).toMatchObject({ code: 0, out: expect.stringMatching(/cd project && \S*loopledger dev --once\n/) });
    expect(await shop.start(["dev", "--once", "--port", "0"], {}, `${shop.folder}/project`).ended).toMatchObject({ code: 0, out: expect.stringContaining("★ receipt") });
    expect(await shop.run("init", "project", "--pattern", pattern)).toMatchObject({ code: 2, err: expect.stringContaining("loopledger.config.ts") });
  });
  test("the pattern pr-review asks a person before its review goes out, and goes on after the decision", async () => {
    await shop.run("init", ".", "--pattern", "pr-review");
    expect(await shop.run("dev", "--once", "--port", "0")).toMatchObject({ code: 3, out: expect.stringContaining("waiting (approval)") });
    expect(shop.has("posted.json")).toBe(false);
    const { checkpoint } = JSON.parse((await shop.run("approvals", "--json")).out.split("\n")[0] ?? "{}");
    expect(await shop.run("approve", "review", checkpoint)).toMatchObject({ code: 0 });
    expect(await shop.run("dev", "--once", "--port", "0")).toMatchObject({ code: 0 });
    expect(JSON.parse(shop.read("posted.json"))).toMatchObject({ key: "review:change.diff" });
  });
});
