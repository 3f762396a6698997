import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { Workshop, holding, isAlive, twoLines, patienceMs } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(() => shop.close());

const types = async (id: string): Promise<string[]> => (await shop.records(id)).map((record) => record.type);

describe("run", () => {
  test("goes on until the check is green, shows what the maker prints, and ends with the receipt", async () => {
    const commands = twoLines(shop);
    const ended = await shop.run("run", "write two lines", ...commands, "--id", "two");
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.out).toMatch(/done {2}two[\s\S]*2 iterations[\s\S]*receipt {4}at seq 13/);
    expect(ended.err.match(/the maker speaks/g)).toHaveLength(4);
    expect(ended.out).not.toContain("the maker speaks");
    expect(await types("two")).toEqual([
      "goal_submitted", "dispatched", "claimed", "check", "dispatched", "built", "dispatched", "check", "dispatched", "built", "dispatched", "check",
      "receipt", "status",
    ]);
  });

  test("each task is the goal and what the check says now; reports do not pile up", async () => {
    const [, , ...check] = twoLines(shop);
    shop.write("check.sh", "#!/bin/sh\ntouch work\nn=$(grep -c built work)\necho \"report $n\"\n[ \"$n\" -ge 3 ]\n");
    expect(await shop.run("run", "write lines", "--maker", "./maker.sh", ...check, "--id", "three")).toMatchObject({ code: 0 });
    const built = (await shop.records("three")).filter(({ type, data }) => type === "dispatched" && data["cycle"] === "build");
    expect(built.map(({ data }) => data["task"])).toEqual([0, 1, 2].map((n) => `write lines\n\nThe check says:\nreport ${n}`));
  });

  test("with --json says nothing but the status on stdout", async () => {
    const ended = await shop.run("run", "write two lines", ...twoLines(shop), "--json");
    expect(JSON.parse(ended.out)).toMatchObject({ disposition: "done", iteration: 2, receipt: { check: { name: "run/check" } } });
    expect(ended.out).toMatch(/^\{\n {2}"sessionId": "run-[0-9a-f]{16}",\n/);
  });

  test("with --quiet says nothing on stderr", async () => {
    expect(await shop.run("run", "write two lines", ...twoLines(shop), "--quiet")).toMatchObject({ code: 0, err: "" });
  });

  test("the same words are the same session; an ended one makes room for the next", async () => {
    const words = ["run", "write two lines", ...twoLines(shop), "--json"];
    const first = JSON.parse((await shop.run(...words)).out);
    const second = JSON.parse((await shop.run(...words)).out);
    expect(second).toMatchObject({ sessionId: `${first.sessionId}-2`, disposition: "done", reason: "no_mutation_owed" });
    const other = JSON.parse((await shop.run("run", "write three lines", ...words.slice(2))).out);
    expect(other.sessionId).not.toContain(first.sessionId);
  });

  test("an ended session of a given id is shown again, and nothing is called", async () => {
    const words = ["run", "write two lines", ...twoLines(shop), "--id", "two"];
    await shop.run(...words);
    const again = await shop.run(...words);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("receipt") });
    expect(shop.lines("work")).toHaveLength(2);
  });

  test("another goal under the same id is refused", async () => {
    const commands = twoLines(shop);
    shop.write("check.sh", "#!/bin/sh\nexit 1\n");
    await shop.run("run", "one goal", ...commands, "--id", "taken", "--iterations", "1");
    expect(await shop.run("run", "another goal", ...commands, "--id", "taken")).toMatchObject({ code: 2, err: expect.stringContaining("another goal") });
  });

  test("another goal, and another check, under the id of an ended session are refused: its receipt says nothing of them", async () => {
    const ended = ["run", "say nothing", "--maker", "touch here", "--check", "test -e here", "--id", "ended"];
    expect(await shop.run(...ended)).toMatchObject({ code: 0 });
    expect(await shop.run("run", "say all", ...ended.slice(2))).toMatchObject({ code: 2, err: expect.stringContaining("another goal") });
    expect(await shop.run(...ended, "--check", "false")).toMatchObject({ code: 2, err: expect.stringContaining("another command") });
    expect(await shop.run(...ended, "--maker", "false")).toMatchObject({ code: 0 });
  });

  test("makers get the task on standard input, as text where that was asked for, and a shell where one was asked for", async () => {
    const prompt = await shop.run("run", "say it", "--stdin", "prompt", "--shell", "--maker", "cat > heard && echo ok", "--check", "test -s heard");
    expect(prompt).toMatchObject({ code: 0 });
    expect(shop.read("heard")).toContain("say it");
    const json = await shop.run("run", "say it as json", "--shell", "--maker", "cat > heard.json", "--check", "test -s heard.json");
    expect(json).toMatchObject({ code: 0 });
    expect(JSON.parse(shop.read("heard.json"))).toMatchObject({ goal: expect.anything(), iteration: 1 });
  });

  test("--protect pins files: where the maker bends one, a person decides", async () => {
    shop.write("rules", "two\n");
    shop.write("maker.sh", "#!/bin/sh\necho one > rules\n");
    shop.write("check.sh", "#!/bin/sh\ngrep -q one rules\n");
    const ended = await shop.run("run", "bend it", "--maker", "./maker.sh", "--check", "./check.sh", "--protect", "rules", "--json");
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.out)).toMatchObject({ disposition: "waiting", reason: "check_changed" });
  });

  test("only what the allow-list and --env name reaches a command", async () => {
    const words = ["run", "look", "--shell", "--maker", "env > seen", "--check", "test -s seen"];
    await shop.start([...words, "--env", "WANTED"], { WANTED: "yes", SECRET_TOKEN: "hidden" }).ended;
    expect(shop.read("seen")).toContain("WANTED=yes");
    expect(shop.read("seen")).not.toContain("hidden");
  });

  test("a goal of a file works with the handlers of the config", async () => {
    twoLines(shop);
    shop.write("loopledger.config.ts", 'import { defineConfig, exec } from "loopledger";\nexport default defineConfig({ makers: { m: exec(["./maker.sh"]) }, checks: { c: exec(["./check.sh"]) } });\n');
    shop.write("goal.yaml", "id: from-file\ngoal: Two lines\nmaker: m\ncheck: c\n");
    expect(await shop.run("run", "goal.yaml")).toMatchObject({ code: 0, out: expect.stringContaining("from-file") });
    expect(await shop.run("run", "Two lines again", "--id", "text")).toMatchObject({ code: 0 });
  });
});

describe("run finds its session again whatever the line says of ceilings and environment", () => {
  const idOf = (text: string): string => /run-[0-9a-f]{16}(?:-\d+)?/.exec(text)?.[0] ?? "";

  test("a higher budget is raised to and the work goes on; a lower one is told and left", async () => {
    const words = ["run", "write two lines", ...twoLines(shop)];
    const poor = await shop.run(...words, "--iterations", "1");
    expect(poor).toMatchObject({ code: 4 });
    const rich = await shop.run(...words, "--iterations", "5", "--cost", "3", "--quiet");
    expect(rich).toMatchObject({ code: 0, err: "" });
    expect(idOf(rich.out)).toBe(idOf(poor.out));
    expect((await shop.records(idOf(poor.out))).filter((record) => record.type === "budget_raised")).toMatchObject([{ data: { iterations: 4 } }]);
    expect(shop.lines("work")).toHaveLength(2);
  });
  test("under a given id too, and what is lower is said to be kept", async () => {
    const commands = twoLines(shop);
    shop.write("check.sh", "#!/bin/sh\ntest -e go\n");
    await shop.run("run", "wait", ...commands, "--id", "kept", "--iterations", "2");
    const lower = await shop.run("run", "wait", ...commands, "--id", "kept", "--iterations", "1");
    expect(lower).toMatchObject({ code: 4, err: expect.stringContaining("keeps its budget: iterations 2") });
    shop.write("go", "");
    expect(await shop.run("run", "wait", ...commands, "--id", "kept", "--iterations", "3")).toMatchObject({ code: 0, err: expect.stringContaining("raised: iterations +1") });
  });
  test("flags that say how a command is run make no other session", async () => {
    const words = ["run", "say so", ...twoLines(shop)];
    shop.write("maker.sh", "#!/bin/sh\nexit 75\n");
    const first = shop.start(words);
    await until(() => first.err().includes("↻ retry"), { what: "the first retry", timeoutMs: patienceMs / 2 });
    first.process.kill("SIGTERM");
    await first.ended;
    twoLines(shop);
    const again = await shop.run(...words, "--env", "NOPE", "--timeout", "50", "--stdin", "prompt");
    expect(again.err).toContain("--env NOPE: it is not set here");
    expect(again).toMatchObject({ code: 0 });
    const { out } = await shop.run("ls", "--json");
    expect(out.trim().split("\n").map((line) => JSON.parse(line).sessionId)).toEqual([idOf(again.out)]);
  });
});

describe("what cannot be started says so at once", () => {
  test("a maker: the session is handed off after one try, with the program's name wherever one looks", async () => {
    const ended = await shop.run("run", "start it", "--maker", "./nofile.sh", "--check", "false", "--id", "nofile");
    expect(ended).toMatchObject({ code: 5, out: expect.stringContaining("no such program ./nofile.sh"), err: expect.stringContaining("no such program ./nofile.sh") });
    expect((await shop.records("nofile")).filter((record) => record.type === "cycle_failed")).toHaveLength(1);
    for (const words of [["explain", "nofile"], ["logs", "nofile"], ["events", "nofile"]]) expect((await shop.run(...words)).out, words[0]).toContain("no such program ./nofile.sh");
    shop.write("plain.sh", "echo built\n");
    expect(await shop.run("run", "start that", "--maker", "./plain.sh", "--check", "false")).toMatchObject({ code: 5, out: expect.stringContaining("./plain.sh may not be executed") });
  });
  test("a check: it counts as red before any work, with the cause in the story, and is handed off later, with the cause again", async () => {
    const ended = await shop.run("run", "judge it", "--maker", "true", "--check", "./nocheck.sh", "--id", "nocheck", "--iterations", "1");
    expect(ended.err).toContain("--check ./nocheck.sh: no such program is here now. Unless the maker makes it, no verdict will come of it.");
    expect(ended.err).toMatch(/\? not run +the check could not start: no such program \.\/nocheck\.sh; before any work that counts as red/);
    expect(ended.err).not.toContain("FAIL");
    expect(ended.err).toMatch(/\? unclear +the check could not start: no such program/);
    for (const words of [["explain", "nocheck"], ["logs", "nocheck", "--iteration", "0"], ["events", "nocheck"], ["status", "nocheck"]]) {
      expect((await shop.run(...words)).out, words[0]).toContain("no such program ./nocheck.sh");
    }
  });
  test("not of a check whose program the commands will find: loopledger itself is there whatever PATH says", async () => {
    const ended = await shop.start(["run", "judge it", "--maker", "true", "--check", "loopledger --version", "--id", "own"], { PATH: "/usr/bin:/bin" }).ended;
    expect(ended).toMatchObject({ code: 0, err: expect.not.stringContaining("no such program") });
  });
  test("an iteration that there is not is told, with how far the session has come; of the others every reader says what the check found", async () => {
    await shop.run("run", "write two lines", ...twoLines(shop), "--id", "two");
    expect(await shop.run("logs", "two", "--iteration", "9")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("no iteration 9: it has come to 2") });
    expect(await shop.run("logs", "two", "--iteration", "2")).toMatchObject({ code: 0, out: expect.stringContaining("there are 2 lines") });
    expect((await shop.run("events", "two")).out).toMatch(/FAIL by run\/check: there are 0 lines\n[\s\S]*FAIL by run\/check: there are 1 lines\n/);
  });
  test("a goal whose handlers are not there is refused before it is taken in", async () => {
    shop.write("goal.yaml", "id: none\ngoal: x\nmaker: nobody\ncheck: c\n");
    expect(await shop.run("run", "goal.yaml")).toMatchObject({ code: 2, err: expect.stringContaining("there is no maker nobody") });
    expect(shop.has(".loopledger/ledger.db")).toBe(false);
  });
});

describe("the exit code of run says how the session stands", () => {
  const red = (...words: string[]) => {
    shop.write("maker.sh", "#!/bin/sh\ndate +%N >> work\n");
    shop.write("check.sh", "#!/bin/sh\nexit 1\n");
    return shop.run("run", "never", "--maker", "./maker.sh", "--check", "./check.sh", ...words);
  };
  test("4 where a budget is used up, with the command that raises it", async () => {
    expect(await red("--iterations", "1", "--id", "poor")).toMatchObject({ code: 4, out: expect.stringContaining("loopledger budget poor --iterations +5") });
  });
  test("5 where the same failure comes back until the breaker stops it", async () => {
    expect(await red()).toMatchObject({ code: 5, out: expect.stringContaining("no progress") });
  });
  test("2 for what was typed wrongly", async () => {
    expect((await red("--iterations", "none")).code).toBe(2);
  });
  test("0 where nothing was to be done", async () => {
    expect(await shop.run("run", "nothing", "--maker", "false", "--check", "true")).toMatchObject({ code: 0, out: expect.stringContaining("no mutation owed") });
  });
});

describe("a session has one owner at a time", () => {
  /** Works until the file `go` is there. */
  const slow = () => {
    shop.write("maker.sh", "#!/bin/sh\necho $$ >> pids\nwhile [ ! -f go ]; do sleep 0.05; done\necho built > work\n");
    shop.write("check.sh", "#!/bin/sh\n[ -f work ]\n");
    return ["run", "wait for go", "--maker", "./maker.sh", "--check", "./check.sh", "--id", "slow"];
  };

  test("a second run is refused at once and calls nothing; --attach follows the first", async () => {
    const words = slow();
    const first = shop.start(words, holding);
    await shop.until("pids");
    expect(await shop.run(...words)).toMatchObject({ code: 9, out: "", err: expect.stringContaining("held by another live process") });
    expect(JSON.parse((await shop.run(...words, "--json")).err)).toMatchObject({ error: { code: "session_held", exitCode: 9 } });
    expect(shop.lines("pids")).toHaveLength(1);
    const attached = shop.start([...words, "--attach"]);
    await until(() => attached.err().includes("Following slow"), { what: "the attached process to follow", timeoutMs: patienceMs / 2 });
    shop.write("go", "");
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await attached.ended).toMatchObject({ code: 0, out: expect.stringContaining("receipt") });
    expect(shop.lines("pids")).toHaveLength(1);
  });

  test("killed with -9 its maker goes too, and the same line goes on with the session", async () => {
    const words = slow();
    const first = shop.start(words);
    await shop.until("pids");
    const maker = Number(shop.lines("pids")[0]);
    expect(isAlive(maker)).toBe(true);
    first.process.kill("SIGKILL");
    expect(await first.ended).toMatchObject({ code: "SIGKILL" });
    await until(() => !isAlive(maker), { what: "the maker's end", timeoutMs: patienceMs / 2 });
    shop.write("go", "");
    expect(await shop.run(...words)).toMatchObject({ code: 0 });
    const records = await types("slow");
    expect(records.filter((type) => type === "goal_submitted")).toHaveLength(1);
    expect(records.filter((type) => type === "claimed")).toHaveLength(2);
    expect(records.filter((type) => type === "built")).toHaveLength(1);
  });

  test("goes on where nobody hears it any more, and leaves with the session's code", async () => {
    shop.write("maker.sh", "#!/bin/sh\necho speaking\necho speaking >> pids\nuntil [ -f go ]; do sleep 0.05; done\necho more\n");
    const run = shop.start(["run", "talk", "--maker", "./maker.sh", "--check", "test -e there", "--id", "talk", "--iterations", "1"]);
    await shop.until("pids");
    run.process.stderr?.destroy();
    run.process.stdout?.destroy();
    shop.write("go", "");
    expect(await run.ended).toMatchObject({ code: 4 });
    expect(await types("talk")).toContain("built");
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s lets go in order, with 130; the same line goes on", async (signal) => {
    const words = slow();
    const first = shop.start(words);
    await shop.until("pids");
    first.process.kill(signal);
    expect(await first.ended).toMatchObject({ code: 130, out: "" });
    expect(await types("slow")).toContain("handed_back");
    shop.write("go", "");
    expect(await shop.run(...words)).toMatchObject({ code: 0 });
  });

  test("a second signal leaves at once, and what ignores SIGTERM goes all the same", async () => {
    shop.write("maker.sh", "#!/bin/sh\ntrap '' TERM\necho $$ >> pids\nwhile :; do sleep 0.05; done\n");
    const run = shop.start(["run", "stubborn", "--maker", "./maker.sh", "--check", "false", "--id", "stubborn"]);
    await shop.until("pids");
    run.process.kill("SIGINT");
    await until(() => run.err().includes("letting go"), { what: "the first signal to be heard", timeoutMs: patienceMs / 2 });
    run.process.kill("SIGINT");
    expect(await run.ended).toMatchObject({ code: 130 });
    await until(() => !isAlive(Number(shop.lines("pids")[0])), { what: "the maker's end", timeoutMs: patienceMs / 2 });
  });

  test("where the data folder is taken away it leaves with 7, and its maker goes too", async () => {
    const run = shop.start(slow());
    await shop.until("pids");
    shop.remove(".loopledger");
    expect(await run.ended).toMatchObject({ code: 7, err: expect.stringContaining("deleted or replaced") });
    await until(() => !isAlive(Number(shop.lines("pids")[0])), { what: "the maker's end", timeoutMs: patienceMs / 2 });
  });
});
