import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../../test/support/until.ts";
import { readRows, temporaryFolder } from "../testing/stage.ts";
import { readAddress, whoAnswers } from "./address.mjs";
import { startForge } from "./start.mjs";
import { stopForge } from "./stop.mjs";

/** Each test starts several processes: on a busy machine that takes its time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const ARGS = { branch: "repair/1", title: "Repair src/money.mjs" };
let folder: string;
let url: string;
beforeEach(async () => {
  folder = temporaryFolder("forge");
  url = await startForge(folder);
});
afterEach(async () => {
  await stopForge(folder);
  rmSync(folder, { recursive: true, force: true });
});

function headers(key: string, epoch?: number): Record<string, string> {
  const claim: Record<string, string> = epoch === undefined ? {} : { "loopledger-session": "s-1", "loopledger-epoch": String(epoch) };
  return { "idempotency-key": key, ...claim };
}

async function open(key: string, epoch: number, args: unknown = ARGS) {
  const answer = await fetch(`${url}/pulls`, { method: "POST", headers: headers(key, epoch), body: JSON.stringify(args) });
  return { status: answer.status, body: await answer.json() };
}

async function look(key: string, epoch?: number) {
  const answer = await fetch(`${url}/pulls/${encodeURIComponent(key)}`, { headers: headers(key, epoch) });
  return answer.json();
}

const rows = () => readRows(join(folder, "effects.jsonl"));
const applications = () => rows().filter(({ kind }) => kind === "application");

/** Ends the forge as a power cut would, and waits until the system has taken its port back. */
async function kill() {
  const address = readAddress(folder);
  if (address === null) throw new Error("the forge has no address");
  process.kill(address.pid, "SIGKILL");
  await until(async () => (await whoAnswers(folder, Number(new URL(address.url).port))) === "nobody", { what: "the end of the forge" });
}

describe("a key", () => {
  it("opens one pull request, however often it is presented", async () => {
    const first = await open("k:1", 1);
    expect(first).toEqual({ status: 200, body: { number: 1, ...ARGS } });
    expect(await open("k:1", 1)).toEqual(first);
    expect(await open("k:2", 1)).toMatchObject({ body: { number: 2 } });
    expect(applications().map(({ key }) => key)).toEqual(["k:1", "k:2"]);
  });

  it("with other arguments is refused", async () => {
    await open("k:1", 1);
    expect(await open("k:1", 1, { ...ARGS, title: "Another" })).toMatchObject({ status: 409, body: { error: "key_conflict" } });
    expect(applications()).toHaveLength(1);
  });

  it("is known by a look, and only then", async () => {
    expect(await look("k:1", 1)).toEqual({ status: "did_not_happen" });
    await open("k:1", 1);
    expect(await look("k:1", 1)).toEqual({ status: "happened", result: { number: 1, ...ARGS } });
  });

  it("is required, as are a branch and a title", async () => {
    const answer = await fetch(`${url}/pulls`, { method: "POST", body: JSON.stringify(ARGS) });
    expect(answer.status).toBe(400);
    expect(await open("k:1", 1, { title: "no branch" })).toMatchObject({ status: 422 });
    expect(await open("k:1", 1, "no object")).toMatchObject({ status: 422 });
    expect(applications()).toEqual([]);
  });
});

describe("the fence", () => {
  it("refuses a call whose epoch is lower than that of a look", async () => {
    await look("k:1", 4);
    expect(await open("k:1", 3)).toEqual({ status: 409, body: { error: "stale_epoch", detail: "run ownership moved" } });
    expect(await look("k:1", 4)).toEqual({ status: "did_not_happen" });
    expect(await open("k:1", 4)).toMatchObject({ status: 200 });
  });

  it("holds for its session only", async () => {
    await look("k:1", 4);
    const other = { ...headers("k:1"), "loopledger-session": "s-2", "loopledger-epoch": "1" };
    expect((await fetch(`${url}/pulls`, { method: "POST", headers: other, body: JSON.stringify(ARGS) })).status).toBe(200);
  });

  it("stands after a kill", async () => {
    await look("k:1", 4);
    await kill();
    await startForge(folder);
    expect(await open("k:1", 3)).toMatchObject({ status: 409 });
  });
});

describe("a kill", () => {
  it("loses nothing that was answered, and a torn line counts as never written", async () => {
    const before = await open("k:1", 1);
    await kill();
    appendFileSync(join(folder, "effects.jsonl"), '{"kind":"application","tool":"open_pu');
    expect(await startForge(folder)).toBe(url);
    expect(await open("k:1", 2)).toEqual(before);
    expect(applications()).toHaveLength(1);
    expect(rows().at(-1)).toMatchObject({ kind: "call", tool: "open_pull_request", key: "k:1", session: "s-1", epoch: 2 });
  });

  it("during a storm of calls leaves each key with one application", async () => {
    const storm = Array.from({ length: 40 }, (_, n) => open(`k:${n % 8}`, 1).catch(() => null));
    await until(() => applications().length > 2, { what: "the first applications" });
    await kill();
    await Promise.all(storm);
    await startForge(folder);
    for (let n = 0; n < 8; n += 1) expect(await open(`k:${n}`, 1)).toMatchObject({ status: 200 });
    expect(applications().map(({ key }) => key).sort()).toEqual(Array.from({ length: 8 }, (_, n) => `k:${n}`));
  });
});

describe("the process", () => {
  it("is one, however many start it at once", async () => {
    await stopForge(folder);
    const urls = await Promise.all([1, 2, 3, 4].map(() => startForge(folder)));
    expect(new Set(urls)).toEqual(new Set([url]));
    await open("k:1", 1);
    expect(readAddress(folder)?.url).toBe(url);
  });

  it("keeps its address over restarts, and takes another where a stranger has the port", async () => {
    await stopForge(folder);
    const stranger = createServer((_, response) => response.end("something else"));
    await new Promise<void>((ready) => stranger.listen(Number(new URL(url).port), "127.0.0.1", ready));
    const moved = await startForge(folder);
    expect(moved).not.toBe(url);
    stranger.closeAllConnections();
    await new Promise((done) => stranger.close(done));
    expect(await startForge(folder)).toBe(moved);
  });

  it("ends when it is asked to, and says so only to who knows its token", async () => {
    expect((await fetch(`${url}/stop`, { method: "POST", headers: { authorization: "Bearer guess" } })).status).toBe(401);
    expect(await stopForge(folder)).toBe(true);
    expect(await stopForge(folder)).toBe(false);
  });

  it("ends by itself when its folder is gone", async () => {
    const address = readAddress(folder);
    rmSync(folder, { recursive: true, force: true });
    await until(() => !isAlive(address?.pid ?? 0), { what: "the end of the forge" });
    mkdirSync(folder, { recursive: true });
  });

  it("is not taken for the forge of a new folder at the same path", async () => {
    await open("k:1", 1);
    rmSync(folder, { recursive: true, force: true });
    url = await startForge(folder);
    expect(await open("k:1", 1)).toMatchObject({ status: 200 });
    expect(applications().map(({ key }) => key)).toEqual(["k:1"]);
  });

  it("ends with the last of the processes that it runs for, and the next one finds what it recorded at the same address", async () => {
    await stopForge(folder);
    const [one, other] = [holder(), holder()];
    await startForge(folder, { owner: one.pid ?? 0, idleSeconds: 0 });
    await startForge(folder, { owner: other.pid ?? 0 });
    const opened = await open("k:1", 1);
    const address = readAddress(folder);
    one.kill("SIGKILL");
    await until(() => !existsSync(join(folder, "owners", String(one.pid))), { what: "the first owner to be missed" });
    expect(await open("k:1", 1)).toEqual(opened);
    other.kill("SIGKILL");
    await until(() => !isAlive(address?.pid ?? 0), { what: "the end of the forge" });
    const next = holder();
    expect(await startForge(folder, { owner: next.pid ?? 0 })).toBe(address?.url);
    expect(readAddress(folder)?.pid).not.toBe(address?.pid);
    expect(await open("k:1", 2)).toEqual(opened);
    expect(applications()).toHaveLength(1);
    next.kill("SIGKILL");
  });

  it("ends by itself when nobody uses it", async () => {
    await stopForge(folder);
    const program = join(import.meta.dirname, "forge.mjs");
    const child = spawn(process.execPath, [program, folder, "--port", "0", "--idle-seconds", "1"], { stdio: "ignore" });
    const code = new Promise((resolve) => child.once("exit", resolve));
    expect(await code).toBe(0);
  });
});

/** A process that does nothing until it is ended. */
function holder() {
  return spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
