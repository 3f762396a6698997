import { existsSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { makeCheckout, PNPM_CALLS, type SmallCheckout, type Started, start } from "./checkout.ts";

let checkout: SmallCheckout;
let started: Started[];

beforeEach(() => {
  checkout = makeCheckout();
  started = [];
});

afterEach(async () => {
  for (const { child } of started) child.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  checkout.remove();
});

function bin(args: readonly string[], { cwd = tmpdir(), path = join(checkout.root, "bin/loopledger") } = {}): Started {
  const process = start([path, ...args], cwd);
  started.push(process);
  return process;
}

function run(args: readonly string[]): Started {
  const script = start([process.execPath, join(checkout.root, "scripts/run.mjs"), ...args], tmpdir());
  started.push(script);
  return script;
}

interface Introduction {
  readonly pid: number;
  readonly cwd: string;
  readonly args: readonly string[];
}

async function introduction({ output }: Started): Promise<Introduction> {
  const line = await until(() => output().stdout.includes("\n") && output().stdout.split("\n")[0], {
    what: "the program's first line",
  });
  return JSON.parse(line) as Introduction;
}

function installs(): string[] {
  const calls = join(checkout.root, PNPM_CALLS);
  return existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
}

test("the process that was started is the one that works, on a first start and on a later one", async () => {
  for (const expectedInstalls of [1, 1]) {
    const process = bin(["serve", "--name", "two words"]);
    const { pid, args } = await introduction(process);
    expect(pid).toBe(process.pid);
    expect(args).toEqual(["serve", "--name", "two words"]);
    expect(installs()).toHaveLength(expectedInstalls);
    process.child.kill("SIGTERM");
    expect(await process.ended).toBe(42);
  }
});

test("the command works through links and keeps the folder that it is started from", async () => {
  symlinkSync("../bin/loopledger", join(checkout.root, "packages/first-link"));
  symlinkSync(join(checkout.root, "packages/first-link"), join(checkout.root, "services/second-link"));
  const process = bin(["leave", "0"], { path: "services/second-link", cwd: checkout.root });
  expect(await process.ended).toBe(0);
  expect((await introduction(process)).cwd).toBe(realpathSync(checkout.root));
});

test("what an install says goes to standard error, so that standard output is the program's", async () => {
  const process = bin(["leave", "5"]);
  expect(await process.ended).toBe(5);
  expect(process.output().stdout.trim().split("\n")).toHaveLength(1);
  expect(process.output().stderr).toContain("installing");
});

test("a changed manifest is installed before the next start, an untouched one is not", async () => {
  expect(await run(["--install"]).ended).toBe(0);
  expect(await bin(["leave", "0"]).ended).toBe(0);
  expect(installs()).toHaveLength(1);
  checkout.write("services/worker/package.json", '{ "type": "module", "version": "1.0.0" }');
  expect(await bin(["leave", "0"]).ended).toBe(0);
  expect(installs()).toHaveLength(2);
  expect(installs()[1]).toContain("--frozen-lockfile");
});

test("two that start at once install once", async () => {
  const both = [run(["packages/cli/src/main.ts", "leave", "0"]), run(["packages/cli/src/main.ts", "leave", "0"])];
  expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(installs()).toHaveLength(1);
});

test("the lock of a process that died is taken over", async () => {
  const dead = run(["--install"]);
  await dead.ended;
  checkout.write(".cache/install.lock/pid", String(dead.pid));
  checkout.write("package.json", '{ "type": "module", "packageManager": "pnpm@0.0.0-control", "version": "2.0.0" }');
  expect(await run(["--install"]).ended).toBe(0);
  expect(existsSync(join(checkout.root, ".cache/install.lock"))).toBe(false);
});

test("an install that fails says what to do, ends with 1 and is not believed afterwards", async () => {
  checkout.write(".cache/pnpm-0.0.0-control/node_modules/.bin/pnpm", "#!/bin/sh\nexit 3\n");
  const failed = run(["packages/cli/src/main.ts", "leave", "0"]);
  expect(await failed.ended).toBe(1);
  expect(failed.output().stderr).toContain("--pnpm install");
  expect(failed.output().stdout).toBe("");
  expect(await bin(["leave", "0"]).ended).toBe(1);
});

test.each([
  ["SIGINT", 41],
  ["SIGTERM", 42],
] as const)("%s reaches the program behind the bootstrap, and its exit code comes back", async (signal, code) => {
  const script = run(["packages/cli/src/main.ts", "serve"]);
  const { pid } = await introduction(script);
  expect(pid).not.toBe(script.pid);
  script.child.kill(signal);
  expect(await script.ended).toBe(code);
  expect(script.output().stdout).toContain(`${signal}\n`);
});

test("the program ends in order when the bootstrap is killed", async () => {
  const script = run(["packages/cli/src/main.ts", "serve"]);
  await introduction(script);
  script.child.kill("SIGKILL");
  await script.ended;
  expect(script.output().stdout).toContain("SIGTERM\n");
});

test("the program ends in order when npm is killed, which has a shell between itself and the bootstrap", async () => {
  const script = `${process.execPath} ${join(checkout.root, "scripts/run.mjs")} packages/cli/src/main.ts serve; :`;
  const npm = start(["env", "npm_lifecycle_event=start", process.execPath, "-e", `require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(script)}], { stdio: "inherit" })`], tmpdir());
  started.push(npm);
  await introduction(npm);
  npm.child.kill("SIGKILL");
  await npm.ended;
  expect(npm.output().stdout).toContain("SIGTERM\n");
});
