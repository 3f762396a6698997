/** A place as prepare.mjs makes it, in a temporary folder, and an engine reduced to what a maker sees of it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startForge } from "../forge/start.mjs";
import { stopForge } from "../forge/stop.mjs";
import { makeFolders } from "../prepare.mjs";

const EXAMPLE = join(import.meta.dirname, "..");

/** The three faults that the repository is delivered with, and the code without them. */
export const FAULTS = [
  { file: "src/dates.mjs", wrong: "daysBetween(today, dueOn(invoice))", right: "daysBetween(dueOn(invoice), today)" },
  { file: "src/discount.mjs", wrong: "quantity > from", right: "quantity >= from" },
  { file: "src/exchange.mjs", wrong: "rate = rates.rate(", right: "rate = await rates.rate(" },
] as const;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Stage {
  readonly place: string;
  readonly workspace: string;
  readonly forge: string;
  readonly effects: () => { kind: string; key: string; argsDigest: string }[];
  readonly replace: (file: string, from: string, to: string) => void;
  readonly read: (file: string) => string;
  readonly check: () => Promise<{ ended: Ended; validation: any }>;
  readonly build: (task: string) => Promise<{ ended: Ended; result: any }>;
  readonly close: () => Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const place = mkdtempSync(join(tmpdir(), "repair-"));
  makeFolders(place);
  const workspace = join(place, "workspace");
  const forgeFolder = join(place, "forge");
  const forge = await startForge(forgeFolder);
  const steps = await stepServer(forge);
  const out = (name: string) => join(place, name);
  const env = { LOOPLEDGER_STEP_URL: steps.url, LOOPLEDGER_STEP_TOKEN: "a-token" };

  return {
    place,
    workspace,
    forge,
    effects: () => readRows(join(forgeFolder, "effects.jsonl")),
    read: (file) => readFileSync(join(workspace, file), "utf8"),
    replace(file, from, to) {
      const path = join(workspace, file);
      const source = readFileSync(path, "utf8");
      if (source.split(from).length !== 2) throw new Error(`"${from}" does not stand once in ${file}`);
      writeFileSync(path, source.replace(from, to));
    },
    async check() {
      const ended = await run("check.mjs", [], { cwd: workspace, env: { ...env, LOOPLEDGER_VALIDATION: out("validation.json") } });
      return { ended, validation: takeJson(out("validation.json")) };
    },
    async build(task) {
      const input = JSON.stringify({ sessionId: "repair-invoices", iteration: 1, task, attempt: 1 });
      const ended = await run("maker.mjs", ["--place", place], { cwd: workspace, env: { ...env, LOOPLEDGER_RESULT: out("result.json") }, input });
      return { ended, result: takeJson(out("result.json")) };
    },
    async close() {
      steps.server.close();
      await stopForge(forgeFolder);
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** One of the example's programs, run to its end. */
export function run(
  program: string,
  args: string[],
  { cwd = EXAMPLE, env = {}, input = "" }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(EXAMPLE, program), ...args], { cwd, env: { PATH: process.env["PATH"] ?? "", ...env } });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

export function readRows(path: string) {
  return readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Hands a tool call on to the forge, as the engine does with an http tool. */
async function stepServer(forge: string): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { args, key } = JSON.parse(body);
    const headers = { "idempotency-key": key, "loopledger-session": "repair-invoices", "loopledger-epoch": "1" };
    const answer = await fetch(`${forge}/pulls`, { method: "POST", headers, body: JSON.stringify(args) });
    const known = request.url === "/tools/open_pull_request" && request.headers.authorization === "Bearer a-token";
    response.writeHead(known ? 200 : 404);
    response.end(JSON.stringify({ outcome: answer.ok ? "confirmed" : "failed", result: await answer.json() }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the step server has no port");
  return { server, url: `http://127.0.0.1:${address.port}` };
}

function takeJson(path: string) {
  try {
    const value = JSON.parse(readFileSync(path, "utf8"));
    rmSync(path);
    return value;
  } catch {
    return null;
  }
}
