/**
 * The main job: a broken repository is repaired, killed at random moments or not, and the forge has one pull request.
 * Judged from the outside: by the forge's own log and by the audit.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { identify } from "@loopledger/infra/process-identity";
import { seededRandom } from "@loopledger/shared/memory";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "../..");
const bin = join(root, "bin/loopledger");
const folders: string[] = [];

function freshData(): string {
  const data = mkdtempSync(join(tmpdir(), "loopledger-repair-"));
  folders.push(data);
  return data;
}
afterEach(() => {
  for (const data of folders.splice(0)) {
    execFileSync(process.execPath, [join(root, "examples/repair/forge/stop.mjs"), join(data, "repair/forge")]);
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
});

interface Life { readonly code: number | null; readonly killed: boolean; readonly out: string }

/** One life of the main job; killed after `killAfterMs`, where that comes before its end. */
function live(data: string, killAfterMs: number | null): Promise<Life> {
  const limit = killAfterMs === null ? {} : { timeout: killAfterMs, killSignal: "SIGKILL" as const };
  const child = spawn(bin, ["dev", "--once", "--port", "0", "--project", "examples/repair", "--data", data], { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...limit });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => { out += chunk.toString(); });
  child.stderr.on("data", (chunk: Buffer) => { out += chunk.toString(); });
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, killed: signal === "SIGKILL", out })));
}
const rowsOf = (file: string): { kind: string }[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { kind: string }) : [];
function judge(data: string): void {
  const effects = rowsOf(join(data, "repair/forge/effects.jsonl"));
  expect(effects.filter((row) => row.kind === "application")).toHaveLength(1);
  execFileSync(bin, ["audit", "--data", data, "--effects", join(data, "repair/forge/effects.jsonl")], { cwd: root, encoding: "utf8" });
  const events = execFileSync(bin, ["events", "repair-invoices", "--data", data, "--json"], { cwd: root, encoding: "utf8", maxBuffer: 50_000_000 });
  const built = events.split("\n").filter((line) => line.includes('"type":"built"'));
  expect(built.length).toBeGreaterThanOrEqual(2);
}
/** The forge that the job started. */
const forgeOf = (data: string): number => (JSON.parse(readFileSync(join(data, "repair/forge/address.json"), "utf8")) as { readonly pid: number }).pid;
const checkout = (): string => execFileSync("git", ["status", "--porcelain", "--", "examples"], { cwd: root, encoding: "utf8" });

describe("the repair of a broken repository", () => {
  test("ends in a receipt, and a second call says that the session is done", async () => {
    const data = freshData();
    const before = checkout();
    const first = await live(data, null);
    expect(first, first.out).toMatchObject({ code: 0, out: expect.stringContaining("receipt") });
    const second = await live(data, null);
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining("done already") });
    judge(data);
    expect(checkout()).toBe(before);
    await until(() => identify(forgeOf(data)) === null, { what: "the end of the forge behind the job that started it", timeoutMs: 60_000 });
  }, 600_000);

  test("killed at random moments and started again each time, it is done once", async () => {
    const data = freshData();
    const random = seededRandom(Number(process.env["REPAIR_SEED"] ?? 20_261));
    const kills = Number(process.env["REPAIR_KILLS"] ?? 8);
    let landed = 0;
    const done = await until(async () => {
      const life = await live(data, landed < kills ? random.between([200, 2_700]) : null);
      if (life.killed) landed++;
      return life.killed ? null : life;
    }, { timeoutMs: 800_000, what: "the job to end in spite of its kills" });
    expect(done, done?.out).toMatchObject({ code: 0 });
    expect(landed).toBeGreaterThan(0);
    judge(data);
  }, 820_000);
});
