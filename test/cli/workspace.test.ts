import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { Workshop, patienceMs, twoLines } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(() => shop.close());

const git = (...words: string[]): string => execFileSync("git", ["-c", "user.name=o", "-c", "user.email=o@example.invalid", ...words], { cwd: shop.folder, encoding: "utf8" });

describe("the data folder lies in the workspace", () => {
  test("a maker that cleans the workspace with git, or commits all of it, leaves the ledger alone", async () => {
    git("init", "-q");
    const commands = twoLines(shop);
    git("add", "-A");
    git("commit", "-qm", "begin");
    shop.write("maker.sh", "#!/bin/sh\necho built >> work\ngit add -A && git -c user.name=o -c user.email=o@example.invalid commit -qm work && git clean -fdq\n");
    expect(await shop.run("run", "write two lines", ...commands, "--id", "clean")).toMatchObject({ code: 0 });
    expect(git("status", "--short", "--", ".loopledger")).toBe("");
    expect(git("ls-files", ".loopledger")).toBe("");
    expect((await shop.records("clean")).at(-1)).toMatchObject({ type: "status" });
  });
  test("a folder that is somebody's own keeps its git settings", async () => {
    twoLines(shop);
    expect(await shop.run("run", "x", "--maker", "true", "--check", "true", "--data", ".")).toMatchObject({ code: 0 });
    expect(existsSync(join(shop.folder, ".gitignore"))).toBe(false);
    expect(await shop.run("run", "x", "--maker", "true", "--check", "true", "--data", "mine")).toMatchObject({ code: 0 });
    expect(shop.read("mine/.gitignore")).toBe("*\n");
  });
  test.each(["with git", "without git"])("what the ledger and other sessions write into a workspace that is the data folder too moves no revision, %s", async (how) => {
    if (how === "with git") git("init", "-q");
    // Longer than an owner's lease goes unrenewed, and than the other session's run begins and ends.
    const words = (n: number) => ["run", `write ${n}`, "--maker", `touch made-${n}`, "--check", `sh -c 'sleep 2; test -e made-${n}'`, "--id", `s${n}`, "--data", "."];
    shop.write("made-1", "");
    shop.write("made-2", "");
    const [first, second] = await Promise.all([shop.run(...words(1)), shop.run(...words(2))]);
    expect([first, second]).toMatchObject([{ code: 0 }, { code: 0 }]);
    for (const id of ["s1", "s2"]) expect((await shop.records(id, "--data", ".")).filter((record) => record.type === "check")).toMatchObject([{ data: { verdict: "PASS" } }]);
  });
});

describe("the folder of the blobs", () => {
  test.each(["with git", "without git"])("inside the workspace moves no revision, %s", async (how) => {
    if (how === "with git") git("init", "-q");
    const variables = { LOOPLEDGER_BLOBS_URL: `file://${shop.folder}/payloads` };
    // Prints more than a record holds, so that each run of it writes a blob.
    shop.write("check.sh", "#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' x\ntest -e made\n");
    expect(await shop.start(["run", "x", "--maker", "touch made", "--check", "./check.sh", "--id", "s"], variables).ended).toMatchObject({ code: 0 });
    expect(existsSync(join(shop.folder, "payloads"))).toBe(true);
    expect((await shop.records("s")).filter((record) => record.type === "check")).toMatchObject([{ data: { verdict: "FAIL" } }, { data: { verdict: "PASS" } }]);
    // Another session leaves its own there, and the receipt still holds.
    const before = readdirSync(join(shop.folder, "payloads")).length;
    expect(await shop.start(["run", "y", "--maker", "true", "--check", "./check.sh", "--id", "t"], variables).ended).toMatchObject({ code: 0 });
    expect(readdirSync(join(shop.folder, "payloads")).length).toBeGreaterThan(before);
    expect(await shop.start(["verify", "s"], variables).ended).toMatchObject({ code: 0 });
  });
  test("that is the workspace itself is refused", async () => {
    twoLines(shop);
    const refused = await shop.start(["run", "x", "--maker", "true", "--check", "true", "--json"], { LOOPLEDGER_BLOBS_URL: `file://${shop.folder}` }).ended;
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/LOOPLEDGER_BLOBS_URL: .* makers and checks work in[\s\S]*Name a folder of their own/) });
    expect(await shop.start(["run", "x", "--maker", "true", "--check", "true"], { LOOPLEDGER_BLOBS_URL: `file://${shop.folder}/blobs` }).ended).toMatchObject({ code: 0 });
  });
});

describe("a ledger that vanishes ends the process with 7, and nothing is told as done", () => {
  test("of a run whose maker removes it and whose check is green at once", async () => {
    shop.write("maker.sh", "#!/bin/sh\nrm -rf .loopledger/ledger.db*\ntouch green\n");
    const ended = await shop.run("run", "vanish", "--maker", "./maker.sh", "--check", "test -e green", "--id", "gone");
    expect(ended).toMatchObject({ code: 7, out: "", err: expect.stringContaining("The ledger is gone") });
    expect(ended.err).not.toContain("receipt");
  });
  test.each([["dev --once", ["dev", "--once", "--port", "0"]], ["dev", ["dev", "--port", "0"]], ["serve", ["serve", "--port", "0"]]])("of %s", async (_name, words) => {
    shop.write("maker.sh", "#!/bin/sh\necho begun > begun\nwhile [ ! -f go ]; do sleep 0.05; done\ntouch green\n");
    shop.write("loopledger.config.json", '{ "makers": { "m": { "exec": ["./maker.sh"] } }, "checks": { "c": { "exec": ["test", "-e", "green"] } } }');
    shop.write("goals/one.yaml", "id: one\ngoal: x\nmaker: m\ncheck: c\n");
    const running = shop.start(words);
    if (words[0] === "serve") {
      await until(() => /^ready$/m.test(running.out()), { what: "ready", timeoutMs: patienceMs / 2 });
      await shop.run("submit", "goals/one.yaml");
    }
    await shop.until("begun");
    shop.remove(".loopledger/ledger.db");
    shop.write("go", "");
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 7, err: expect.stringContaining("The ledger is gone") });
    expect(ended.out).not.toContain("done  one");
  });
});
