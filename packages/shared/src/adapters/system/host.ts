/**
 * What this host knows of its processes. A pid alone proves nothing, because pids are used again: a process is named by its
 * pid, its start time, the boot that it belongs to and its pid namespace.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ClaimHost } from "../../core/events/claimed.ts";
import type { Host, ProcessState } from "../../ports/index.ts";

export interface SystemHostOptions {
  /** Where the kernel shows its processes (default `/proc`); where it is missing, less can be told. */
  readonly proc?: string;
}

export function createSystemHost({ proc = "/proc" }: SystemHostOptions = {}): Host {
  const own = statOf(proc, process.pid);
  const hasProc = own !== null;
  const self: ClaimHost = hasProc
    ? {
        pid: process.pid,
        startTime: own.startTime,
        bootId: readFileSync(`${proc}/sys/kernel/random/boot_id`, "utf8").trim(),
        pidNamespace: readlinkSync(`${proc}/self/ns/pid`),
      }
    : { pid: process.pid, startTime: "", bootId: hostname(), pidNamespace: process.platform };
  return {
    self: () => self,
    look: (other): ProcessState => {
      if (other.bootId !== self.bootId || other.pidNamespace !== self.pidNamespace) return "elsewhere";
      if (!hasProc) return answersSignal(other.pid) ? "alive" : "dead";
      const stat = statOf(proc, other.pid);
      return stat === null || stat.startTime !== other.startTime || stat.isOver ? "dead" : "alive";
    },
  };
}

/** Null where there is no such process. The name in brackets may hold blanks and brackets itself, so fields count from its end. */
function statOf(proc: string, pid: number): { startTime: string; isOver: boolean } | null {
  let text: string;
  try {
    text = readFileSync(`${proc}/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = ""] = fields;
  // Field 22 of the whole line, in ticks since boot. Z is a zombie and X a process that is being taken away.
  return { startTime: fields[19] ?? "", isOver: state === "Z" || state === "X" };
}

/** Without /proc: a pid that cannot be signalled for want of rights exists all the same. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
