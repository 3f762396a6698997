/** The command as a process of its own, as an operator starts it, and the steps that its handlers tell of. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "..", "..");
export const commandPath = join(root, "bin", "loopledger");
const config = join(import.meta.dirname, "fixtures", "loopledger.config.mjs");
const allRoles = "scheduler,worker,checker,projector,gateway";

export interface Step {
  readonly what: "began" | "ended";
  readonly sessionId: string;
  readonly iteration: number;
  readonly kind: "maker" | "check";
  /** Milliseconds of the wall clock, with fractions. */
  readonly atMs: number;
  readonly pid: number;
}
export interface Place {
  /** Parent of the data folder. */
  readonly folder: string;
  readonly stepMs?: number;
  readonly iterations?: number;
  /** Settings that go beside the others. */
  readonly variables?: NodeJS.ProcessEnv;
}

/** The clock that the handlers tell their steps by. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

export function stepsOf({ folder }: Place): Step[] {
  const file = join(folder, "steps");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => {
    const [what, sessionId, iteration, kind, atMs, pid] = line.split(" ");
    return { what, sessionId, iteration: Number(iteration), kind, atMs: Number(atMs), pid: Number(pid) } as Step;
  });
}
export function dataOf({ folder }: Place): string {
  return join(folder, "data");
}

export function environmentOf(place: Place): NodeJS.ProcessEnv {
  return {
    ...process.env, LOOPLEDGER_DATA: dataOf(place), LOOPLEDGER_LOG_LEVEL: "error", BENCH_STEPS: join(place.folder, "steps"),
    BENCH_STEP_MS: String(place.stepMs ?? 0), BENCH_ITERATIONS: String(place.iterations ?? 20), ...place.variables,
  };
}

export class Serving {
  readonly #child: ChildProcess;
  readonly #place: Place;
  readonly startedMs: number;
  #said = "";
  #port = 0;

  private constructor(child: ChildProcess, place: Place, startedMs: number) {
    this.#child = child;
    this.#place = place;
    this.startedMs = startedMs;
    child.stdout?.on("data", (chunk) => {
      this.#said += String(chunk);
    });
    child.stderr?.on("data", (chunk) => {
      this.#said += String(chunk);
    });
  }
  /** Starts `serve` with all roles; resolved when its port is open. */
  static async start(place: Place): Promise<Serving> {
    const serving = Serving.begin(place);
    await serving.ready();
    return serving;
  }
  /** The same without waiting, or with other roles. */
  static begin(place: Place, roles: string = allRoles): Serving {
    const startedMs = nowMs();
    const args = ["serve", "--roles", roles, "--port", "0", "--config", config, "--json"];
    return new Serving(spawn(commandPath, args, { cwd: place.folder, env: environmentOf(place), stdio: ["ignore", "pipe", "pipe"] }), place, startedMs);
  }
  async ready(): Promise<void> {
    const document = await until(() => {
      if (this.#child.exitCode !== null) throw new Error("it has ended");
      return /\{[^{}]*"ready"[^{}]*\}/.exec(this.#said)?.[0];
    }, { what: `serve to be ready: ${this.#said}`, timeoutMs: 60_000 });
    this.#port = (JSON.parse(document) as { port: number }).port;
  }
  get pid(): number {
    return this.#child.pid ?? 0;
  }
  /** What it holds in memory now, in MB. */
  rssMb(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1000;
  }
  async submit(id: string): Promise<void> {
    const body = {
      id, goal: "bench", maker: "bench", check: "bench", budget: { iterations: 100_000 }, policy: { failureFirst: false, breaker: { same: null } },
    };
    const answer = await fetch(`http://127.0.0.1:${this.#port}/v1/sessions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`submit ${id}: ${answer.status} ${await answer.text()}`);
  }
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
  /** The first step that fits, once it is there. */
  step(fits: (step: Step) => boolean, what: string): Promise<Step> {
    return until(() => stepsOf(this.#place).find(fits), { what: `${what}: ${this.#said.slice(-2000)}`, timeoutMs: 60_000 });
  }
  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
