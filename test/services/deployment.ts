/** A project with a goal, and the services around it: each a process of its own, as an operator starts them. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { StatusView } from "@loopledger/shared/core/session/status";
import { until } from "../support/until.ts";
import { type Grounds, type OpenGrounds, type Variables, environmentOn, openGrounds } from "../support/worlds/grounds.ts";
import { type Folded, brokenBy, foldSession } from "../support/worlds/oracle.ts";

export const serviceNames = ["scheduler", "worker", "checker", "projector", "gateway"] as const;
export type ServiceName = (typeof serviceNames)[number];
/** Works on Kafka alone. */
export type DistributedName = ServiceName | "intake";
/** Processes are slow to start while the machine is busy with others. */
export const patienceMs = 180_000;

const root = resolve(import.meta.dirname, "../..");
const compiled = join(tmpdir(), "loopledger-compile-cache");
const node = [process.execPath, "--disable-warning=ExperimentalWarning"];

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}
export class ServiceProcess {
  readonly child: ChildProcess;
  readonly name: string;
  readonly ended: Promise<Ended>;
  out = "";
  err = "";

  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => { this.out += text; });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => { this.err += text; });
    child.once("error", (error) => { this.err += error.message; });
    this.ended = new Promise((done) => child.once("close", (code, signal) => done({ code: code ?? signal ?? "", out: this.out, err: this.err })));
  }
  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
  /** Its address, once it takes work. */
  async ready(): Promise<string> {
    const found = await until(() => /^ready (http:\S+)$/m.exec(this.out)?.[1] ?? (this.isOver ? "over" : ""), { what: `${this.name} to be ready: ${this.err}`, timeoutMs: patienceMs });
    if (found === "over") throw new Error(`${this.name} ended before it was ready: ${this.err}`);
    return found;
  }
  async text(path: string): Promise<{ readonly status: number; readonly body: string }> {
    const answer = await fetch(`${await this.ready()}${path}`);
    return { status: answer.status, body: await answer.text() };
  }
  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

export class DeploymentUnderTest {
  readonly folder = mkdtempSync(join(tmpdir(), "loopledger-services-"));
  readonly grounds: Grounds;
  readonly #started: ServiceProcess[] = [];
  #watched: Promise<OpenGrounds> | null = null;

  constructor(grounds: Grounds) {
    this.grounds = grounds;
    // A maker that adds a line, and waits where it is told to; a check that wants two lines.
    this.write("maker.sh", '#!/bin/sh\necho $$ >> pids\nwhile [ -f hold ]; do sleep 0.05; done\necho built >> work\n');
    this.write("check.sh", '#!/bin/sh\ntouch work\n[ "$(grep -c built work)" -ge 2 ]\n');
    this.write("loopledger.config.json", JSON.stringify({ makers: { m: { exec: ["./maker.sh"] } }, checks: { c: { exec: ["./check.sh"] } } }));
    this.write("goal.json", JSON.stringify({ id: "two", goal: "Two lines", maker: "m", check: "c" }));
  }
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
    if (text.startsWith("#!")) chmodSync(join(this.folder, name), 0o755);
  }
  remove(name: string): void {
    rmSync(join(this.folder, name), { force: true });
  }
  lines(name: string): string[] {
    const path = join(this.folder, name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  }

  /** `behind`: the words of a program that starts it in surroundings of its own. */
  start(service: DistributedName, more: Variables = {}, behind: readonly string[] = []): ServiceProcess {
    return this.#spawn(service, [...behind, ...node, join(root, "services", service, "src/main.ts")], more);
  }
  command(...words: string[]): ServiceProcess {
    return this.#spawn(words.join(" "), [...node, join(root, "packages/cli/src/main.ts"), ...words], {});
  }
  run(...words: string[]): Promise<Ended> {
    return this.command(...words).ended;
  }
  #spawn(name: string, [program = "", ...given]: readonly string[], more: Variables): ServiceProcess {
    const env = environmentOn(this.grounds, { NODE_COMPILE_CACHE: compiled, NO_COLOR: "1", LOOPLEDGER_LEASE_MS: "600", LOOPLEDGER_LOG_LEVEL: "error", LOOPLEDGER_PORT: "0", ...more });
    const started = new ServiceProcess(name, spawn(program, given, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] }));
    this.#started.push(started);
    return started;
  }

  /** The session as the ledger itself has it. */
  async folded(id: string): Promise<Folded> {
    this.#watched ??= openGrounds(this.grounds, join(this.folder, ".loopledger"), { views: true });
    return foldSession(await (await this.#watched).ledger.readSession(id as SessionId), id as SessionId);
  }
  async broken(id: string): Promise<readonly string[]> {
    return brokenBy(await this.folded(id));
  }
  /** The view as other systems read it; null where there is none. */
  async view(id: string): Promise<StatusView | null> {
    await this.folded(id);
    const document = await (await this.#watched)?.views?.get("main", id as SessionId);
    return document ? (JSON.parse(document) as StatusView) : null;
  }

  async close(): Promise<void> {
    for (const one of this.#started) if (!one.isOver) one.kill("SIGKILL");
    await Promise.all(this.#started.map((one) => one.ended));
    await (await this.#watched)?.close();
    await this.grounds.remove();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
