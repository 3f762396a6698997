/** A folder with a maker and a check written for the test, and the command, started there as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../support/until.ts";

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}
export interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  out(): string;
  err(): string;
  readonly ended: Promise<Ended>;
}
/** Processes are slow to start while the machine is busy with others. */
export const patienceMs = 120_000;

/** For a process that holds a session under the eyes of another one, and may stand still for seconds while it does. */
export const holding: Variables = { LOOPLEDGER_LEASE_MS: "20000" };

export type Variables = Readonly<Record<string, string | undefined>>;

const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");

export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), "loopledger-workshop-"));
  readonly #started: Running[] = [];

  /** A file of the folder; what begins with `#!` can be executed. */
  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (text.startsWith("#!")) chmodSync(path, 0o755);
  }
  read(name: string): string {
    return existsSync(join(this.folder, name)) ? readFileSync(join(this.folder, name), "utf8") : "";
  }
  lines(name: string): string[] {
    return this.read(name).split("\n").filter((line) => line !== "");
  }
  remove(name: string): void {
    rmSync(join(this.folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  start(words: readonly string[], variables: Variables = {}, cwd = this.folder): Running {
    const env = { PATH: process.env["PATH"], HOME: this.folder, USER: "olga", NO_COLOR: "1", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...variables };
    const child = spawn(process.execPath, [main, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const output = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => { output.out += text; });
    child.stderr.setEncoding("utf8").on("data", (text: string) => { output.err += text; });
    const ended = new Promise<Ended>((resolve) => child.once("close", (code, signal) => resolve({ code: code ?? signal ?? "", ...output })));
    const running = { process: child, pid: child.pid ?? 0, out: () => output.out, err: () => output.err, ended };
    this.#started.push(running);
    return running;
  }
  run(...words: string[]): Promise<Ended> {
    return this.start(words).ended;
  }
  /** The records of a session, as `events` shows them. */
  async records(id: string, ...flags: readonly string[]): Promise<{ readonly type: string; readonly seq: number; readonly data: Record<string, unknown> }[]> {
    const { out } = await this.run("events", id, "--json", ...flags);
    return out.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }
  /** A file is there before what its writer writes: it is waited for until it holds a line. */
  until(name: string): Promise<unknown> {
    return until(() => this.has(name) && this.lines(name).length > 0, { what: `the file ${name}`, timeoutMs: patienceMs / 2 });
  }

  /** Ends what still runs and takes the folder away. */
  async close(): Promise<void> {
    for (const one of this.#started) if (one.process.exitCode === null && one.process.signalCode === null) one.process.kill("SIGKILL");
    await Promise.all(this.#started.map((one) => one.ended));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A maker that adds a line, and a check that wants two of them: done at the second iteration. */
export function twoLines(shop: Workshop): readonly string[] {
  shop.write("maker.sh", "#!/bin/sh\necho built >> work\necho the maker speaks\n");
  shop.write("check.sh", "#!/bin/sh\ntouch work\nn=$(grep -c built work)\necho \"there are $n lines\"\n[ \"$n\" -ge 2 ]\n");
  return ["--maker", "./maker.sh", "--check", "./check.sh"];
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
