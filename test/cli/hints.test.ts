import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { type Running, Workshop, patienceMs, twoLines } from "./workshop.ts";

vi.setConfig({ testTimeout: patienceMs, hookTimeout: patienceMs });

const root = join(import.meta.dirname, "../..");
let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(() => shop.close());

/** A project in a folder of its own, whose goal is done at the first build. */
function project(): void {
  twoLines(shop);
  shop.write("project/loopledger.config.json", '{ "makers": { "m": { "exec": ["touch", "green"] } }, "checks": { "c": { "exec": ["test", "-e", "green"] } } }');
  shop.write("project/goals/one.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\n");
}
const commandIn = (text: string): string => /(?:next {7}|`)(\S*loopledger [^`\n]+)/.exec(text)?.[1] ?? "";
/** The program's path as it was printed, from the folder where the person is: whichever way is the shorter one. */
const programOf = (hint: string) => resolve(shop.folder, hint.split(" ")[0] ?? "");
const wordsOf = (hint: string) => hint.split(" ").slice(1).join(" ");
/** Types a hint, word by word, where the command itself stands first. */
const typed = (hint: string) => shop.run(...hint.split(" ").slice(1));

describe("what is printed can be typed as it stands", () => {
  test("with the path of the command where it is not on PATH, and the data folder and config that belong to it", async () => {
    project();
    const ended = await shop.run("dev", "--once", "--port", "0", "--project", "project", "--data", "there");
    const hint = commandIn(ended.out);
    expect(programOf(hint)).toBe(join(root, "bin/loopledger"));
    expect(wordsOf(hint)).toBe("verify one --data there --config project/loopledger.config.json");
    expect(await typed(hint)).toMatchObject({ code: 0, out: expect.stringContaining("holds") });
    const explained = await shop.run("explain", "one", "--data", "there", "--config", "project/loopledger.config.json");
    expect(wordsOf(explained.out.trimEnd().split("\n").at(-1)?.trim() ?? "")).toBe("verify one --data there --config project/loopledger.config.json");
    const again = await shop.run("dev", "--once", "--port", "0", "--project", "project", "--data", "there");
    expect(await typed(commandIn(again.out))).toMatchObject({ code: 0 });
  });
  test("by its name where it is on PATH, and without flags for what is found by itself", async () => {
    project();
    const bin = join(shop.folder, "bin");
    mkdirSync(bin);
    symlinkSync(join(root, "bin/loopledger"), join(bin, "loopledger"));
    const { out } = await shop.start(["dev", "--once", "--port", "0"], { PATH: `${bin}:${process.env["PATH"]}` }, join(shop.folder, "project")).ended;
    expect(commandIn(out)).toBe("loopledger verify one");
  });
  test("where npm starts it, for the folder in which the person is", async () => {
    project();
    const inside = join(shop.folder, "project");
    const { out } = await shop.start(["dev", "--once", "--port", "0"], { npm_lifecycle_event: "start", INIT_CWD: shop.folder }, inside).ended;
    expect(programOf(commandIn(out))).toBe(join(root, "bin/loopledger"));
    expect(wordsOf(commandIn(out))).toBe("verify one --data project/.loopledger --config project/loopledger.config.json");
  });
  test("from one command to the next: the config that the first was given is named by each that follows", async () => {
    shop.write("project/loopledger.config.json", '{ "makers": { "m": { "exec": ["./not-there.sh"] } }, "checks": { "c": { "exec": ["test", "-e", "green"] } } }');
    shop.write("one.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\npolicy: { failureFirst: false }\n");
    const given = ["--data", "there", "--config", "project/loopledger.config.json"];
    await shop.run("submit", "one.yaml", ...given);
    expect((await shop.run("ls", "--data", "there")).out).toContain("running, nobody has it");
    const advanced = await shop.run("advance", "one", ...given);
    expect(advanced).toMatchObject({ code: 5, err: expect.stringContaining("no such program") });
    const resume = /next: (.*)/.exec(advanced.err)?.[1] ?? "";
    expect(wordsOf(resume)).toBe("resume one --data there --config project/loopledger.config.json");
    const resumed = await typed(resume);
    const advance = /\S*loopledger advance .*/.exec(resumed.out)?.[0] ?? resumed.out;
    expect(wordsOf(advance)).toBe("advance one --data there --config project/loopledger.config.json");
    shop.write("project/not-there.sh", "#!/bin/sh\ntouch green\n");
    chmodSync(join(shop.folder, "project/not-there.sh"), 0o755);
    expect(await typed(advance)).toMatchObject({ code: 8, err: "" });
    expect(await typed(advance)).toMatchObject({ code: 0, err: "" });
    expect((await shop.run("ls", "--data", "there")).out).not.toContain("nobody has it");
  });
  test("in errors too", async () => {
    const { err } = await shop.run("status", "nobody", "--data", "there");
    expect(commandIn(err)).toContain("loopledger ls --data there");
  });
});

describe("a session of a run goes on with its own line", () => {
  test("explain, advance and resume show the line that was typed, for the folder in which it was typed", async () => {
    twoLines(shop);
    shop.write("check.sh", "#!/bin/sh\ntest -e go\n");
    await shop.run("run", "wait for go", "--maker", "./maker.sh", "--check", "./check.sh", "--id", "own", "--iterations", "1");
    const raised = await shop.run("budget", "own", "--iterations", "+1");
    expect(raised.out).toContain("Nobody has claimed it: build of iteration 2 is open.");
    const line = "run 'wait for go' --maker ./maker.sh --check ./check.sh --id own";
    for (const { out, err } of [raised, await shop.run("explain", "own"), await shop.run("advance", "own")]) expect(out + err).toContain(line);
    mkdirSync(join(shop.folder, "inner"));
    const elsewhere = await shop.start(["explain", "own", "--data", "../.loopledger"], {}, join(shop.folder, "inner")).ended;
    expect(elsewhere.out).toContain(`cd ${shop.folder} && `);
    shop.write("go", "");
    expect(await shop.run("run", "wait for go", "--maker", "./maker.sh", "--check", "./check.sh", "--id", "own")).toMatchObject({ code: 0 });
  });
});

/** A process that serves says when it takes work; one that ends instead says why. */
async function takesWork(serving: Running): Promise<void> {
  const { process: child } = serving;
  await until(() => serving.out().includes("ready") || child.exitCode !== null || child.signalCode !== null, { what: "a process that takes work", timeoutMs: patienceMs / 2 });
  expect(serving.out(), serving.err()).toContain("ready");
}

describe("a session whose handlers are not here", () => {
  const config = (maker: string): void => shop.write("loopledger.config.json", `{ "makers": { "${maker}": { "exec": ["touch", "green"] } }, "checks": { "c": { "exec": ["test", "-e", "green"] } } }`);

  test("is refused by advance before any claim, with what to do", async () => {
    config("other");
    shop.write("goal.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\n");
    await shop.run("submit", "goal.yaml");
    expect(await shop.run("advance", "one")).toMatchObject({ code: 2, err: expect.stringMatching(/no maker m[\s\S]*add what is missing/) });
    expect((await shop.records("one")).map((record) => record.type)).toEqual(["goal_submitted", "dispatched"]);
  });
  test("waits for them where a serving process finds that nobody takes it, and says what to do first", async () => {
    config("other");
    shop.write("goal.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\npolicy: { failureFirst: false }\n");
    const serve = shop.start(["serve", "--roles", "scheduler,worker,checker", "--port", "0"], { LOOPLEDGER_LEASE_MS: "300" });
    expect(await shop.run("submit", "goal.yaml", "--wait")).toMatchObject({ code: 3 });
    serve.process.kill("SIGTERM");
    expect(await serve.ended).toMatchObject({ code: 0 });
    const { out } = await shop.run("explain", "one");
    expect(out).toMatch(/handler missing[\s\S]*add it there first, then resume; where its name is wrong, cancel this and submit it anew/);
    config("m");
    expect(await shop.run("resume", "one")).toMatchObject({ code: 0, out: expect.stringMatching(/It is resumed\.[\s\S]*loopledger advance one/) });
    while ((await shop.run("advance", "one")).code === 8);
    expect(await shop.run("status", "one", "--exit-code")).toMatchObject({ code: 0 });
  });
  test("is left by one that does not have them to one that has, which takes it at once", async () => {
    shop.write("goal.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\n");
    config("other");
    shop.write("other.json", shop.read("loopledger.config.json"));
    config("m");
    // In half of such a lease, for which sessions are left to another's turn, nobody's patience would last here.
    const serve = (...words: string[]) => shop.start(["serve", "--roles", "scheduler,worker,checker", "--port", "0", ...words], { LOOPLEDGER_LEASE_MS: "600000" });
    const without = [serve("--config", "other.json"), serve("--config", "other.json"), serve("--config", "other.json")];
    await Promise.all(without.map(takesWork));
    const having = serve();
    await takesWork(having);
    expect(await shop.run("submit", "goal.yaml", "--wait")).toMatchObject({ code: 0 });
    const pids = (await shop.records("one")).filter((record) => record.type === "claimed").map((record) => (record.data["host"] as { pid: number }).pid);
    expect([...new Set(pids)]).toEqual([having.pid]);
    for (const process of [...without, having]) process.process.kill("SIGTERM");
    await Promise.all([...without, having].map(({ ended }) => ended));
  });
});

describe("after an act it is told how the session stands, not that it goes on", () => {
  test("a resumed session whose budget is used up is told so, with what raises it", async () => {
    twoLines(shop);
    shop.write("check.sh", "#!/bin/sh\nexit 1\n");
    await shop.run("run", "never", "--maker", "./maker.sh", "--check", "./check.sh", "--id", "poor", "--iterations", "1");
    await shop.run("pause", "poor");
    const { out } = await shop.run("resume", "poor");
    expect(out).toMatch(/It is resumed\.[\s\S]*budget of iterations is used up[\s\S]*loopledger budget poor --iterations \+5/);
  });
});
