/** A world of real processes on one data folder, or on what else its grounds name: they are killed, stopped and woken by signals, and watched from outside. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import { type Goal, goal } from "@loopledger/shared/core/events/goal";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { LogEntry } from "@loopledger/shared/ports";
import { createMemoryProcess } from "@loopledger/shared/memory";
import { createSystemClock, createSystemHost, createSystemIds } from "@loopledger/shared/system";
import type { Inputs, MakerRow } from "../fixtures/handlers.ts";
import { until } from "../until.ts";
import { type Grounds, type OpenGrounds, environmentOn, folderGrounds, openGrounds } from "./grounds.ts";
import { type Folded, brokenBy, brokenEffects, foldSession } from "./oracle.ts";
import { type Peer, makePeer } from "./peer.ts";
import { type TargetServer, startTarget } from "./target-server.ts";
import { handlersOf, isOver, patientLeaseMs } from "./world.ts";

const program = join(import.meta.dirname, "..", "fixtures", "loop-process.ts");
/** Processes are slow to start while the machine is busy with others. */
const patienceMs = 90_000;
/** Compiled once for all processes of a test run. */
const compiled = join(tmpdir(), "loopledger-compile-cache");

export interface Starting {
  /** What stands in LOOPLEDGER_FAILPOINTS. */
  readonly failpoints?: string;
  readonly roles?: string;
  /** Submits this goal and follows its session alone. */
  readonly session?: { readonly id: string; readonly goal: GoalGiven };
  readonly only?: readonly string[];
  readonly carry?: string;
  /** Most that its heap may hold, in MiB; default: what Node takes. */
  readonly heapMiB?: number;
  /** From which level on its log speaks (default `error`). */
  readonly logLevel?: "info";
}
export interface GoalGiven {
  readonly inputs: Inputs & Readonly<Record<string, unknown>>;
  readonly maker?: string;
  readonly policy?: Readonly<Record<string, unknown>>;
}

export class LoopProcess {
  readonly #child: ChildProcess;
  #out = "";
  #err = "";
  /** Exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.on("data", (chunk) => {
      this.#out += String(chunk);
    });
    child.stderr?.on("data", (chunk) => {
      this.#err += String(chunk);
    });
    this.exited = once(child, "close").then(([code]) => code as number | null);
  }
  get pid(): number {
    return this.#child.pid ?? 0;
  }
  get stderr(): string {
    return this.#err;
  }
  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
  said(word: string): Promise<string> {
    return this.#await(() => this.#out.split("\n").find((line) => line.includes(`"${word}"`)), `"${word}"`);
  }
  async owner(): Promise<string> {
    return (JSON.parse(await this.said("ready")) as { owner: string }).owner;
  }
  async hasFired(failpoint: string): Promise<void> {
    await this.#await(() => this.#err.includes(`failpoint ${failpoint} fired`), `failpoint ${failpoint}`);
  }
  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    this.#child.kill(signal);
  }
  /** The kernel shows it as stopped, by a failpoint or by `kill("SIGSTOP")`. */
  async isStopped(): Promise<void> {
    await until(() => / T /.test(readFileSync(`/proc/${this.pid}/stat`, "utf8").replace(/\(.*\)/, "")), { what: `process ${this.pid} to be stopped`, timeoutMs: patienceMs });
  }
  /** Answers once it carries nothing and has folded everything. */
  async isIdle(): Promise<void> {
    const before = this.#out.split('"idle"').length;
    this.#child.stdin?.write("idle\n");
    await this.#await(() => this.#out.split('"idle"').length > before, "it to be idle");
  }
  /** Once it has ended and everything that it said is here, what has not been said never will be. */
  async #await<T>(condition: () => T, what: string): Promise<Exclude<T, undefined>> {
    let isClosed = false;
    const closed = this.exited.then(() => (isClosed = true));
    closed.catch(() => undefined);
    const value = await until(() => condition() || isClosed, { what: `${what} from process ${this.pid}: ${this.#said()}`, timeoutMs: patienceMs });
    if (value === true && !condition()) {
      throw new Error(`process ${this.pid} ended (${this.#child.exitCode ?? this.#child.signalCode}) without ${what}: ${this.#said()}`);
    }
    return value as Exclude<T, undefined>;
  }
  #said(): string {
    return `${this.#out.slice(-2000)}${this.#err.slice(-2000)}`;
  }
  async leave(): Promise<number | null> {
    if (!this.isOver) this.#child.kill("SIGTERM");
    return this.exited;
  }
}

export class ProcessWorld {
  readonly folder: string;
  readonly server: TargetServer;
  readonly leaseMs: number;
  readonly #grounds: Grounds;
  readonly #watched: OpenGrounds;
  readonly #processes: LoopProcess[] = [];
  #person: Promise<{ readonly peer: Peer; readonly opened: OpenGrounds }> | null = null;

  private constructor({ folder, server, leaseMs, grounds, watched }: { folder: string; server: TargetServer; leaseMs: number; grounds: Grounds; watched: OpenGrounds }) {
    this.folder = folder;
    this.server = server;
    this.leaseMs = leaseMs;
    this.#grounds = grounds;
    this.#watched = watched;
  }
  static async open({ leaseMs = patientLeaseMs, grounds = folderGrounds }: { readonly leaseMs?: number; readonly grounds?: Grounds } = {}): Promise<ProcessWorld> {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-processes-"));
    return new ProcessWorld({ folder, leaseMs, grounds, server: await startTarget(join(folder, "target")), watched: await openGrounds(grounds, folder) });
  }

  async start(starting: Starting = {}): Promise<LoopProcess> {
    const { session, only = session ? [session.id] : [], roles, carry, heapMiB } = starting;
    const args = [
      ...(heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`]), program, "--data", this.folder, "--target", this.server.url, ...only.flatMap((id) => ["--only", id]),
      ...(roles === undefined ? [] : ["--roles", roles]), ...(carry === undefined ? [] : ["--carry", carry]),
      ...(session ? ["--id", session.id, "--goal", JSON.stringify(goalOf(session.goal))] : []),
    ];
    const child = spawn(process.execPath, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: environmentOn(this.#grounds, {
        NODE_COMPILE_CACHE: compiled, LOOPLEDGER_LEASE_MS: String(this.leaseMs), LOOPLEDGER_FAILPOINTS: starting.failpoints ?? "",
        LOOPLEDGER_LOG_LEVEL: starting.logLevel ?? "error",
      }),
    });
    const started = new LoopProcess(child);
    this.#processes.push(started);
    await started.said("ready");
    return started;
  }

  /** Somebody who writes acts and runs nothing. */
  async person(): Promise<Peer> {
    this.#person ??= this.#join();
    return (await this.#person).peer;
  }
  async #join(): Promise<{ readonly peer: Peer; readonly opened: OpenGrounds }> {
    const clock = createSystemClock();
    const ids = createSystemIds();
    const { folder } = this;
    const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
    const opened = await openGrounds(this.#grounds, folder);
    const ports = {
      ledger: opened.ledger, ownership: opened.ownership, blobs, clock, ids, host: createSystemHost(), handlers: handlersOf({}, { folder, blobs }),
    };
    return { opened, peer: await makePeer(ports, createMemoryProcess(clock), { leaseMs: this.leaseMs, roles: [] }) };
  }

  async folded(id: string): Promise<Folded> {
    return foldSession(await this.#watched.ledger.readSession(id as SessionId), id as SessionId);
  }
  async state(id: string): Promise<SessionState> {
    return (await this.folded(id)).state;
  }
  async until(id: string, condition: (state: SessionState) => boolean, what: string): Promise<SessionState> {
    let entries: readonly LogEntry[] = [];
    let { state } = foldSession(entries, id as SessionId);
    await until(async () => {
      const found = await this.#watched.ledger.readSession(id as SessionId);
      // Many sessions are waited for at once: each is folded anew only where something has come.
      if (found.length !== entries.length) ({ state } = foldSession(found, id as SessionId));
      entries = found;
      return condition(state);
    }, { what: `${what} of ${id}`, timeoutMs: patienceMs });
    return state;
  }
  untilOver(id: string): Promise<SessionState> {
    return this.until(id, isOver, "the end");
  }
  /** What the ledger and the target's log say against each other, and the ledger against itself. */
  async broken(id: string): Promise<readonly string[]> {
    const folded = await this.folded(id);
    return [...brokenBy(folded), ...brokenEffects(folded, this.server.target.rows())];
  }
  makers(id: string): readonly MakerRow[] {
    const path = join(this.folder, "makers.jsonl");
    const rows = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as MakerRow) : [];
    return rows.filter((row) => row.session === id);
  }

  async close(): Promise<void> {
    for (const one of this.#processes) if (!one.isOver) one.kill("SIGKILL");
    await Promise.all(this.#processes.map((one) => one.exited));
    const person = await this.#person;
    await person?.peer.leave();
    await person?.opened.close();
    await this.#watched.close();
    await this.#grounds.remove();
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function goalOf({ inputs, maker = "maker", policy = {} }: GoalGiven): Goal {
  return goal.parse({ goal: "deploy what the inputs name", maker, check: "check", inputs, policy });
}
