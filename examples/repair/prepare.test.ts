import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { until } from "../../test/support/until.ts";
import { stopForge } from "./forge/stop.mjs";
import { run, temporaryFolder } from "./testing/stage.ts";

/** Each test starts several processes: on a busy machine that takes its time. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let place: string;
beforeEach(() => {
  place = temporaryFolder("prepare");
});
afterEach(async () => {
  await stopForge(join(place, "forge"));
  rmSync(place, { recursive: true, force: true });
});

function git(...words: string[]) {
  return spawnSync("git", ["-c", "safe.directory=*", ...words], { cwd: join(place, "workspace"), encoding: "utf8" }).stdout.trim();
}

it("makes a git repository with one commit that depends on nothing of the machine", async () => {
  const home = join(place, "home");
  mkdirSync(home);
  writeFileSync(join(home, ".gitconfig"), "[user]\nname = Somebody\nemail = somebody@example.invalid\n[core]\nautocrlf = true\n");
  expect((await run("prepare.mjs", [place], { env: { HOME: home, GIT_DIR: "/nowhere", TZ: "Asia/Tokyo" } })).code).toBe(0);
  expect(git("log", "--format=%an %s")).toBe("Invoices Invoices 1.4.0");
  expect(git("status", "--porcelain")).toBe("");
  const first = git("rev-parse", "HEAD");
  rmSync(join(place, "workspace"), { recursive: true });
  expect((await run("prepare.mjs", [place])).code).toBe(0);
  expect(git("rev-parse", "HEAD")).toBe(first);
  expect(first).toMatch(/^[0-9a-f]{40,64}$/);
});

it("leaves alone what is there, also a half-done repair", async () => {
  await run("prepare.mjs", [place]);
  const file = join(place, "workspace", "src", "money.mjs");
  writeFileSync(file, "// changed\n");
  expect((await run("prepare.mjs", [place])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("// changed\n");
});

it("gives one workspace and one forge to several that prepare at once", async () => {
  const ended = await Promise.all([1, 2, 3].map(() => run("prepare.mjs", [place])));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(new Set(ended.map(({ stdout }) => stdout)).size).toBe(1);
  expect(readdirSync(place).sort()).toEqual(["base", "forge", "workspace"]);
  expect(git("status", "--porcelain")).toBe("");
});

it("is whole after the next run, wherever it was killed", async () => {
  const program = join(import.meta.dirname, "prepare.mjs");
  const stages = [
    () => existsSync(place) && readdirSync(place).some((name) => name.startsWith(".part-")),
    () => existsSync(join(place, "base")),
    () => existsSync(join(place, "workspace")),
    () => existsSync(join(place, "forge", "port")),
  ];
  for (const reached of stages) {
    await stopForge(join(place, "forge"));
    rmSync(place, { recursive: true, force: true });
    const child = spawn(process.execPath, [program, place], { stdio: "ignore" });
    const gone = new Promise((resolve) => child.once("close", resolve));
    await until(() => reached() || child.exitCode !== null, { what: "the stage at which it is killed" });
    child.kill("SIGKILL");
    await gone;
    expect((await run("prepare.mjs", [place])).code).toBe(0);
    expect(readdirSync(place).sort()).toEqual(["base", "forge", "workspace"]);
    expect(git("status", "--porcelain")).toBe("");
  }
});
