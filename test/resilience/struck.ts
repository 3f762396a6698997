/** The struck process as its tests see it: from outside, over HTTP and its streams. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { until } from "../support/until.ts";
import type { Kind } from "./fixtures/strikes.ts";

const program = join(import.meta.dirname, "fixtures", "struck-process.ts");
export const patienceMs = 120_000;

export class StruckProcess {
  readonly folder = mkdtempSync(join(tmpdir(), "loopledger-struck-"));
  readonly #child: ChildProcess;
  readonly #answers: ((line: { readonly value?: unknown; readonly error?: string }) => void)[] = [];
  readonly #begun = Promise.withResolvers<number>();
  #err = "";
  #url = "";

  constructor() {
    this.#child = spawn(process.execPath, [program, "--data", this.folder], {
      stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "loopledger-compile-cache") },
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#err = `${this.#err}${chunk}`.slice(-8_000);
    });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const said = JSON.parse(line) as { readonly port?: number };
      if (said.port !== undefined) this.#begun.resolve(said.port);
      else this.#answers.shift()?.(said as never);
    });
    this.#child.once("close", (code, signal) => this.#begun.reject(new Error(`it ended with ${code ?? signal}: ${this.#err}`)));
  }

  async begin(): Promise<void> {
    this.#url = `http://127.0.0.1:${await this.#begun.promise}`;
  }
  get url(): string {
    return this.#url;
  }
  get stderr(): string {
    return this.#err;
  }
  /** It has not ended, neither by itself nor by a signal. */
  get lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #tell(command: object): Promise<unknown> {
    const answered = new Promise<{ readonly value?: unknown; readonly error?: string }>((resolve) => this.#answers.push(resolve));
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    const { value, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return value;
  }
  strike(name: string, kind: Kind): Promise<unknown> {
    return this.#tell({ strike: name, kind });
  }
  mend(): Promise<unknown> {
    return this.#tell({ mend: true });
  }
  submit(id: string, maker = "builder"): Promise<unknown> {
    return this.#tell({ submit: id, maker });
  }
  emitServerError(): Promise<unknown> {
    return this.#tell({ emit: true });
  }
  async names(): Promise<string[]> {
    return (await this.#tell({ names: true })) as string[];
  }
  async hits(): Promise<number> {
    return (await this.#tell({ hits: true })) as number;
  }
  /** Lets a maker go on that waits in the midst of its run. */
  letGoOn(id: string): void {
    writeFileSync(join(this.folder, `go-on-${id}`), "");
  }
  /** How its views compare with a fresh fold of the ledger. */
  async compare(): Promise<{ readonly equal: boolean }> {
    return (await this.#tell({ compare: true })) as { readonly equal: boolean };
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`${this.#url}${path}`);
    return { status: answer.status, text: await answer.text() };
  }
  /** Null = ready; else the names of what does not work. */
  async faults(): Promise<readonly string[] | null> {
    const { status, text } = await this.get("/readyz");
    return status === 200 ? null : (JSON.parse(text) as { readonly faults: readonly string[] }).faults;
  }
  untilFaulty(name: string): Promise<unknown> {
    return until(async () => (await this.faults())?.includes(name), { what: `${name} among the faults; ${this.#err.slice(-2_000)}`, timeoutMs: patienceMs });
  }
  untilReady(): Promise<unknown> {
    let faults: readonly string[] | null = null;
    return until(async () => {
      faults = await this.faults();
      return faults === null;
    }, { get what() { return `readiness; faulty are ${faults?.join(", ")}`; }, timeoutMs: patienceMs });
  }
  /** The seq that it stands at, once it is done. */
  async untilDone(id: string): Promise<number> {
    const status = await until(async () => {
      const { status, text } = await this.get(`/v1/sessions/${id}`);
      const read = status === 200 ? (JSON.parse(text) as { readonly disposition: string; readonly asOf: number }) : null;
      return read?.disposition === "done" ? read : null;
    }, { what: `the end of ${id}; ${this.#err.slice(-2_000)}`, timeoutMs: patienceMs });
    return status.asOf;
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    if (this.lives) await Promise.race([once(this.#child, "close"), until(() => !this.lives, { what: "its end", timeoutMs: 10_000 }).catch(() => this.#child.kill("SIGKILL"))]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
