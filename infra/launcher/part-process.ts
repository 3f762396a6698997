/** Programs that go on when whoever started them has ended, with what they say in a file. */
import { execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { InfraError } from "./infra-error.ts";
import type { Variables } from "./java.ts";
import { endProcess, identify, isAlive, type ProcessIdentity } from "./process-identity.ts";
import { pause } from "./waiting.ts";

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly variables: Variables;
  /** Where its output goes; it begins anew with each start. */
  readonly log: string;
}

/** Starts it in a session of its own, so that no Ctrl-C and no closing terminal reaches it. */
export function startDetached({ program, args, folder, variables, log }: ProgramCall): Promise<ProcessIdentity> {
  const output = openSync(log, "w");
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: folder, env: { ...variables }, detached: true, stdio: ["ignore", output, output] });
    closeSync(output);
    child.once("error", (error) => fail(new InfraError("part_failed", `${program} could not be started: ${error.message}.`, { next: "See that it can be run." })));
    child.once("spawn", () => {
      child.unref();
      const { pid = 0 } = child;
      // One that has ended by now has no start any more: it is dead for everybody who looks.
      done(identify(pid) ?? { pid, start: "ended" });
    });
  });
}

/** The last lines of a log, for a message. */
function tailOf(log: string, lines = 12): string {
  try {
    return readFileSync(log, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

export interface ReadyCheck {
  readonly name: string;
  readonly process: ProcessIdentity;
  readonly log: string;
  /** Throws or gives false while it is not ready. */
  readonly isReady: () => Promise<boolean>;
  readonly limitMs?: number;
}

/** Waits until it is ready. One that ends meanwhile, or takes too long, is ended and told with what it said last. */
export async function waitReady({ name, process: part, log, isReady, limitMs = 120_000 }: ReadyCheck): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    if (await isReady().catch(() => false)) return;
    const ended = !isAlive(part);
    if (ended || performance.now() > deadline) {
      await endProcess(part, 0);
      const what = ended ? "ended before it was ready" : `was not ready after ${Math.round(limitMs / 1000)} s`;
      const said = tailOf(log);
      throw new InfraError("part_failed", `${name} ${what}.${said === "" ? "" : ` It said last:\n${said}`}`, { next: `Its whole log is ${log}.` });
    }
    await pause(25);
  }
}

/** Runs a program to its end; `problem` and `next` are what a person reads where it fails. */
export async function runProgram(call: { readonly program: string; readonly args: readonly string[]; readonly folder: string; readonly variables: Variables }, words: { readonly code: string; readonly problem: string; readonly next: string }): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(call.program, call.args, { cwd: call.folder, env: { ...call.variables }, maxBuffer: 1 << 26 });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-8).join("\n");
    throw new InfraError(words.code, `${words.problem}${said === "" ? "" : ` It said:\n${said}`}`, { next: words.next, cause: error });
  }
}
