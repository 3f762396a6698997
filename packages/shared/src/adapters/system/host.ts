/**
 * What this host knows of its processes. A pid alone proves nothing, because pids are used again: a process is named by its
 * pid, its start time, the boot that it belongs to and its pid namespace.
 */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ClaimHost } from "../../core/events/claimed.ts";
import type { Host, ProcessState } from "../../ports/index.ts";
import { bootIdOf, statOf } from "./process-table.ts";

export interface SystemHostOptions {
  /** Where the kernel shows its processes (default `/proc`); where it is missing, less can be told. */
  readonly proc?: string;
}

export function createSystemHost({ proc = "/proc" }: SystemHostOptions = {}): Host {
  const own = statOf(process.pid, proc);
  const hasProc = own !== null;
  const self: ClaimHost = hasProc
    ? {
        pid: process.pid,
        startTime: own.startTime,
        bootId: bootIdOf(proc),
        pidNamespace: readlinkSync(`${proc}/self/ns/pid`),
      }
    : { pid: process.pid, startTime: "", bootId: hostname(), pidNamespace: process.platform };
  return {
    self: () => self,
    look: (other): ProcessState => {
      if (other.bootId !== self.bootId || other.pidNamespace !== self.pidNamespace) return "elsewhere";
      if (!hasProc) return answersSignal(other.pid) ? "alive" : "dead";
      const stat = statOf(other.pid, proc);
      return stat === null || stat.startTime !== other.startTime || stat.isOver ? "dead" : "alive";
    },
  };
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
