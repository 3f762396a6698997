/** The worker's side of a supervisor: starts it, reads what its program prints, watches for silence, and learns how it ended. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { passingFault } from "@loopledger/shared/core/retry/passing";
import { liveRuns } from "./live.ts";
// biome-ignore lint/correctness/useImportExtensions: plain JavaScript with a declaration beside it.
import { endRecorded, runFolderOf } from "./records.mjs";

export interface Launch {
  /** Unique id of this run; also the marker in the environment of all its processes. */
  readonly run: string;
  readonly kind: "cycle" | "tool";
  readonly epoch: number;
  readonly sessionFolder: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** File that the program reads as its stdin: a file, so that any program can open /dev/stdin and none waits for its end. */
  readonly stdin: string;
  readonly timeoutSeconds: number;
  /** Longest silence in seconds; null = none. */
  readonly idleSeconds: number | null;
  readonly graceSeconds: number;
}
/** Folder of a run's own files; it exists before the launch. */
export { runFolderOf };
export type Ended =
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "timeout" | "idle" | "stop" | "superseded" }
  /** `passing`: the host is short of something; else the program is at fault. */
  | { readonly kind: "cannot_start"; readonly passing: boolean; readonly errno: string; readonly message: string }
  /** The supervisor itself went away. */
  | { readonly kind: "lost" };
type Said = {
  readonly started?: number; readonly cannotStart?: string; readonly message?: string; readonly superseded?: true;
  readonly code?: number | null; readonly signal?: string | null; readonly cause?: string;
};

const supervisorPath = fileURLToPath(new URL("./supervisor.mjs", import.meta.url));
/** How long output is waited for once all known processes of the run are gone; only what hides from its supervisor can hold the pipe. */
const drainMs = 500;

export async function launch(asked: Launch, io: Io): Promise<Ended> {
  liveRuns.add(asked.run);
  try {
    const piped = namedPipe(runFolderOf(asked.sessionFolder, asked.run));
    return await new Run(asked, startSupervisor(), io).watch(piped);
  } finally {
    liveRuns.delete(asked.run);
  }
}

function startSupervisor(): ChildProcess {
  return spawn(process.execPath, [supervisorPath], { cwd: "/", detached: true, env: {}, stdio: ["ignore", "pipe", "ignore", "pipe"] });
}

const run = promisify(execFile);

/** A named pipe, because Node's own are sockets and a program cannot open /dev/stdout on one; null where the host has none. */
async function namedPipe(folder: string): Promise<{ path: string; fd: number } | null> {
  const path = join(folder, "output");
  try {
    await run("mkfifo", ["-m", "600", path]);
  } catch {
    return null;
  }
  return { path, fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
}

interface Io {
  readonly signal: AbortSignal;
  readonly write: (chunk: Uint8Array) => Promise<void>;
}

class Run {
  readonly #asked: Launch;
  readonly #supervisor: ChildProcess;
  readonly #control: Duplex;
  readonly #io: Io;
  readonly #ended: Promise<Ended>;
  #output: Readable | null = null;
  #reading: Promise<void> | null = null;
  #lastOutputMs = performance.now();

  constructor(asked: Launch, supervisor: ChildProcess, io: Io) {
    this.#asked = asked;
    this.#supervisor = supervisor;
    this.#control = supervisor.stdio[3] as unknown as Duplex;
    this.#io = io;
    // At once, so that nothing that it says, and not its failure to start, goes unheard.
    this.#ended = this.#heard();
  }

  async watch(piped: ReturnType<typeof namedPipe>): Promise<Ended> {
    const { signal } = this.#io;
    const pipe = await piped;
    this.#output = pipe === null ? (this.#supervisor.stdout as Readable) : new Socket({ fd: pipe.fd, readable: true, writable: false });
    const stop = () => this.#command("stop");
    signal.addEventListener("abort", stop, { once: true });
    this.#lastOutputMs = performance.now();
    const idle = this.#watchSilence();
    try {
      this.#command(JSON.stringify(this.#spec(pipe?.path ?? null)));
      if (signal.aborted) stop();
      const end = await this.#ended;
      if (end.kind === "lost") {
        const { run, sessionFolder } = this.#asked;
        await endRecorded(sessionFolder, { which: (record) => record.run === run, graceMs: 300 });
      }
      await this.#drain();
      return end;
    } finally {
      clearInterval(idle);
      signal.removeEventListener("abort", stop);
      this.#control.destroy();
      this.#output.destroy();
    }
  }

  #spec(output: string | null) {
    const { run, kind, epoch, sessionFolder, argv, cwd, environment, stdin, timeoutSeconds, graceSeconds } = this.#asked;
    return {
      run, kind, epoch, folder: sessionFolder, argv, cwd, env: environment, stdin, output,
      timeoutMs: Math.ceil(timeoutSeconds * 1000), graceMs: graceSeconds * 1000,
    };
  }

  #command(line: string): void {
    if (!this.#control.destroyed) this.#control.write(`${line}\n`);
  }

  /** What the supervisor says, line by line, until it says how the run ended or is gone. */
  #heard(): Promise<Ended> {
    const control = this.#control;
    return new Promise((resolve) => {
      let text = "";
      control.setEncoding("utf8");
      control.on("data", (part: string) => {
        text += part;
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) {
          const said = JSON.parse(line) as Said;
          // Until the program has the pipe open, reading it would only find its end.
          if (said.started !== undefined) this.#reading ??= this.#read();
          else resolve(endOf(said));
        }
      });
      control.on("error", () => undefined);
      control.on("close", () => resolve({ kind: "lost" }));
      this.#supervisor.on("error", (error: NodeJS.ErrnoException) => resolve(cannotStart(error.code ?? "EINVAL", error.message)));
    });
  }

  /** One chunk after the other: a reader that is slow holds the program back, and nothing piles up here. */
  async #read(): Promise<void> {
    try {
      for await (const chunk of this.#output as AsyncIterable<Buffer>) {
        await this.#io.write(chunk);
        this.#lastOutputMs = performance.now();
      }
    } catch {
      // Destroyed after the end of the run: what hid from its supervisor still held the pipe.
    }
  }

  /** Two looks in a row must find it silent: after a pause of this process the first comes before what was printed meanwhile is read. */
  #watchSilence(): NodeJS.Timeout | undefined {
    const { idleSeconds } = this.#asked;
    if (idleSeconds === null) return undefined;
    let suspected = false;
    const everyMs = Math.min(1000, (idleSeconds * 1000) / 4);
    return setInterval(() => {
      const silent = performance.now() - this.#lastOutputMs >= idleSeconds * 1000;
      if (silent && suspected) this.#command("idle");
      suspected = silent;
    }, everyMs);
  }

  /** Reads what is still in the pipe. */
  async #drain(): Promise<void> {
    const reading = this.#reading;
    if (reading === null) return;
    let over = false;
    const read = reading.then(() => {
      over = true;
    });
    let timer: NodeJS.Timeout | undefined;
    const quiet = new Promise<void>((resolve) => {
      const look = () => {
        if (over || performance.now() - this.#lastOutputMs >= drainMs) resolve();
        else timer = setTimeout(look, 25);
      };
      timer = setTimeout(look, drainMs);
    });
    await Promise.race([read, quiet]);
    clearTimeout(timer);
    this.#output?.destroy();
    await read;
  }
}

/** The program has not been started; `passing` where the host is at fault. */
export function cannotStart(errno: string, message: string): Extract<Ended, { kind: "cannot_start" }> {
  return { kind: "cannot_start", passing: passingFault({ code: errno }) !== null, errno, message };
}

function endOf(said: Said): Ended {
  if (said.superseded) return { kind: "superseded" };
  if (said.cannotStart !== undefined) return cannotStart(said.cannotStart, said.message ?? "");
  if (said.cause === "timeout" || said.cause === "idle" || said.cause === "stop") return { kind: said.cause };
  return { kind: "exit", code: said.code ?? null, signal: said.signal ?? null };
}
