/**
 * A process by its pid and its start: pids are used again, so a pid alone names nobody. Only a process whose start is the
 * recorded one is ever signalled.
 */
import { execFileSync } from "node:child_process";
import { bootIdOf, statOf } from "@loopledger/shared/process-table";
import { pause } from "./waiting.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the words of this host: boot id and ticks on Linux, else what `ps` says. */
  readonly start: string;
}

/** Null where there is no such process, or only what is left of one that has ended. */
export function identify(pid: number): ProcessIdentity | null {
  const start = process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
  return start === null ? null : { pid, start };
}

export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return identify(pid)?.start === start;
}

function startOnLinux(pid: number): string | null {
  const stat = statOf(pid);
  return stat === null || stat.isOver ? null : `${bootIdOf()}/${stat.startTime}`;
}

function startByPs(pid: number): string | null {
  try {
    const [state = "", ...rest] = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim().split(/\s+/);
    return state === "" || state.startsWith("Z") ? null : rest.join(" ");
  } catch {
    return null;
  }
}

function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Asks it to stop, also where it is paused, and kills it after `graceMs`. Resolves when it is gone; true where it went by itself. */
export async function endProcess(target: ProcessIdentity, graceMs = 15_000): Promise<boolean> {
  signal(target, "SIGTERM");
  signal(target, "SIGCONT");
  const deadline = performance.now() + graceMs;
  let killed = false;
  while (isAlive(target)) {
    if (performance.now() > deadline) {
      signal(target, "SIGKILL");
      killed = true;
    }
    await pause(20);
  }
  return !killed;
}

/** Kills it without a word before. Resolves when it is gone. */
export async function killProcess(target: ProcessIdentity): Promise<void> {
  signal(target, "SIGKILL");
  while (isAlive(target)) await pause(5);
}

/** Stops it where it stands, or lets it go on. */
export function holdProcess(target: ProcessIdentity, held: boolean): void {
  signal(target, held ? "SIGSTOP" : "SIGCONT");
}
