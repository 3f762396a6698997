/** The command itself, on a project of its own: what a person would type. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { MakerRow } from "../fixtures/handlers.ts";
import { type Grounds, environmentOn, folderGrounds } from "./grounds.ts";
import { type TargetServer, startTarget } from "./target-server.ts";
import type { Door } from "./target.ts";
import { patientLeaseMs } from "./world.ts";

const command = resolve(import.meta.dirname, "../../../bin/loopledger");
const maker = resolve(import.meta.dirname, "../fixtures/deploy-program.mjs");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder with a config, a goal and data of its own, and the target that its tools call. */
export class Project {
  readonly folder: string;
  readonly server: TargetServer;
  readonly #grounds: Grounds;
  readonly #children = new Set<ChildProcess>();

  private constructor({ folder, server, grounds }: { folder: string; server: TargetServer; grounds: Grounds }) {
    this.folder = folder;
    this.server = server;
    this.#grounds = grounds;
  }
  /** One goal, `goal.json`: its maker deploys through this door; its check is green once the maker has ended. */
  static async make(id: string, inputs: { readonly door: Door; readonly waits?: boolean }, grounds: Grounds = folderGrounds): Promise<Project> {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-project-"));
    const server = await startTarget(join(folder, "target"));
    const config = {
      makers: { deployer: { exec: [process.execPath, maker] } }, checks: { deployed: { exec: ["grep", "-q", "ends", "makers.jsonl"] } },
      tools: { [inputs.door]: { http: { url: `${server.url}/${inputs.door}` }, contract: inputs.door === "unsafe" ? "unsafe" : "idempotent" } },
    };
    writeFileSync(join(folder, "loopledger.config.json"), JSON.stringify(config));
    writeFileSync(join(folder, "goal.json"), JSON.stringify({ id, goal: "deploy it", maker: "deployer", check: "deployed", inputs }));
    return new Project({ folder, server, grounds });
  }

  start(...args: string[]): { readonly child: ChildProcess; readonly over: Promise<Ran> } {
    const child = spawn(command, args, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"], env: environmentOn(this.#grounds, { LOOPLEDGER_DATA: join(this.folder, "data"), LOOPLEDGER_LEASE_MS: String(patientLeaseMs) }) });
    this.#children.add(child);
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      said.stdout += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
      said.stderr += String(chunk);
    });
    return { child, over: once(child, "close").then(([code]) => ({ code: code as number | null, ...said })) };
  }
  run(...args: string[]): Promise<Ran> {
    return this.start(...args).over;
  }
  makers(): readonly MakerRow[] {
    const path = join(this.folder, "makers.jsonl");
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as MakerRow) : [];
  }
  begun(): number {
    return this.makers().filter(({ what }) => what === "begins").length;
  }
  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    await this.#grounds.remove();
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
