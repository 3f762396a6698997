/** The services as processes of their own on one data folder, each with its reactors open to strikes, and somebody beside them who submits. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { SessionId } from "@loopledger/shared/core/brand";
import { goal } from "@loopledger/shared/core/events/goal";
import { type Engine, makeEngine, silentLog, submitGoal } from "@loopledger/shared/runtime";
import { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import { until } from "../support/until.ts";
import { patienceMs } from "./struck.ts";

export const serviceNames = ["scheduler", "worker", "checker", "projector", "gateway"] as const;
export type ServiceName = (typeof serviceNames)[number];
/** The maker and the check of a session, and whether it is submitted through the gateway. */
export interface Submitted {
  readonly maker?: string;
  readonly check?: string;
  readonly posted?: true;
}

const root = join(import.meta.dirname, "../..");
const preload = join(import.meta.dirname, "fixtures", "struck-service.ts");
const stepMaker = join(import.meta.dirname, "fixtures", "step-maker.mjs");

/** A service's own main, as an operator starts it. */
export class StruckService {
  readonly name: ServiceName | "intake";
  readonly #child: ChildProcess;
  readonly #answers: ((value: unknown) => void)[] = [];
  readonly #ready = Promise.withResolvers<string>();
  #err = "";

  constructor(name: ServiceName | "intake", folder: string, variables: Readonly<Record<string, string | undefined>> = {}) {
    this.name = name;
    this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "--import", preload, join(root, "services", name, "src/main.ts"), "--port", "0"], {
      cwd: folder, stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: folder, LOOPLEDGER_LEASE_MS: "600", LOOPLEDGER_LOG_LEVEL: "error", NODE_COMPILE_CACHE: join(tmpdir(), "loopledger-compile-cache"), ...variables },
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#err = `${this.#err}${chunk}`.slice(-8_000);
    });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const url = /^ready (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) this.#ready.resolve(url);
      else this.#answers.shift()?.((JSON.parse(line) as { readonly value: unknown }).value);
    });
    this.#child.once("close", (code, signal) => this.#ready.reject(new Error(`${name} ended with ${code ?? signal}: ${this.#err}`)));
    this.#ready.promise.catch(() => undefined);
  }

  url(): Promise<string> {
    return this.#ready.promise;
  }
  get lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  tell(command: object): Promise<unknown> {
    const answered = new Promise((resolve) => this.#answers.push(resolve));
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    return answered;
  }
  async faults(): Promise<readonly string[]> {
    const answer = await fetch(`${await this.url()}/readyz`);
    const { faults = [] } = (await answer.json()) as { readonly faults?: readonly string[] };
    return answer.status === 200 ? [] : faults;
  }
  untilFaulty(name: string): Promise<unknown> {
    return until(async () => (await this.faults()).includes(name), { what: `${name} among the faults of the ${this.name}; ${this.#err.slice(-1_000)}`, timeoutMs: patienceMs });
  }
  untilReady(): Promise<unknown> {
    return until(async () => (await this.faults()).length === 0, { what: `the ${this.name} to be ready again; ${this.#err.slice(-1_000)}`, timeoutMs: patienceMs });
  }
  async close(): Promise<void> {
    if (this.lives) {
      this.#child.kill("SIGKILL");
      await once(this.#child, "close");
    }
  }
}

const program = `exec([${JSON.stringify(process.execPath)}, ${JSON.stringify(stepMaker)}])`;
/** The check is red before anything was built. Who waits does so in the midst of its run, for the file go-on-SESSION. */
const config = `import { existsSync } from "node:fs";
import { exec, fn } from "loopledger";
const later = new Set();
const built = { summary: "built", revision: "r1" };
const verdict = (task) => (task.iteration > 0 ? { verdict: "PASS", evidence: {}, next_steps: [] } : { verdict: "FAIL", evidence: {}, next_steps: ["build it"] });
const waited = async (task) => {
  await task.step("one", () => 1);
  while (!existsSync("go-on-" + task.sessionId)) await new Promise((resolve) => setTimeout(resolve, 10));
};
export default {
  makers: {
    builder: fn(async (task) => { await task.step("one", () => 1); return built; }),
    waiter: fn(async (task) => { await waited(task); return built; }),
    // Puts its first try off.
    later: fn(async ({ sessionId }) => {
      if (later.has(sessionId)) return built;
      later.add(sessionId);
      throw Object.assign(new Error("busy"), { retryAfterSeconds: 1 });
    }),
    program: ${program},
  },
  checks: {
    check: fn(async (task) => verdict(task)),
    waiter: fn(async (task) => { await waited(task); return verdict(task); }),
    program: ${program},
  },
};
`;

/** One of each service, started once. */
export class StruckServices {
  readonly folder = mkdtempSync(join(tmpdir(), "loopledger-struck-services-"));
  readonly services: ReadonlyMap<ServiceName, StruckService>;
  readonly #outside: Engine;
  readonly #close: () => Promise<void>;
  readonly #over = new AbortController();

  constructor() {
    writeFileSync(join(this.folder, "loopledger.config.mjs"), config);
    const [clock, ids, data] = [createSystemClock(), createSystemIds(), join(this.folder, ".loopledger")];
    const ledger = openSqliteLedger({ folder: data, clock, ids });
    const [views, ownership] = [openSqliteReadModel({ folder: data, ledgerId: ledger.ledgerId }), openSqliteOwnership({ folder: data, clock })];
    const handlers = { maker: () => null, check: () => null, tool: () => null, toolNames: () => [] };
    this.#outside = makeEngine({ ledger, views, ownership, blobs: openFolderBlobs({ folder: join(data, "blobs"), clock, ids }), clock, ids, host: createSystemHost(), handlers }, { leaseMs: 600, silenceMs: 60_000, log: silentLog });
    this.#close = async () => {
      await this.#outside.folds.close();
      await views.close();
      await ownership.close();
      await ledger.close();
    };
    this.services = new Map(serviceNames.map((name) => [name, new StruckService(name, this.folder)]));
  }
  /** All take work. */
  async begin(): Promise<void> {
    await this.#outside.folds.start(await this.#outside.ledger.end());
    for (const service of this.services.values()) await service.url();
  }
  service(name: ServiceName): StruckService {
    const found = this.services.get(name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  }
  get outside(): Engine {
    return this.#outside;
  }
  async submit(id: string, { maker = "builder", check = "check", posted }: Submitted = {}): Promise<void> {
    const asked = { goal: "build it", maker, check };
    if (posted) return this.ask("/v1/sessions", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id, ...asked }) });
    await submitGoal(this.#outside, goal.parse(asked), { actor: { kind: "human", id: "olga" }, id: id as SessionId });
  }
  /** A request to the gateway that nobody waits for; it is over when the stage is. */
  async ask(path: string, request: RequestInit = {}): Promise<void> {
    const url = await this.service("gateway").url();
    void fetch(`${url}${path}`, { ...request, signal: this.#over.signal }).then((answer) => answer.text()).catch(() => undefined);
  }
  /** Lets a maker go on that waits in the midst of its run. */
  letGoOn(id: string): void {
    writeFileSync(join(this.folder, `go-on-${id}`), "");
  }
  /** The seq that it stands at, once it is done, by the ledger itself. */
  async untilDone(id: string): Promise<number> {
    const state = await until(() => {
      const found = this.#outside.folds.peek(id as SessionId);
      return found?.end?.disposition === "done" ? found : null;
    }, { what: `the end of ${id}`, timeoutMs: patienceMs });
    return state.seq;
  }
  async close(): Promise<void> {
    this.#over.abort();
    await Promise.all([...this.services.values()].map((one) => one.close()));
    await this.#close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
