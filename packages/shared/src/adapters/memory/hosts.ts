/** One simulated machine: its processes have pids of their own, and a killed one is seen to be dead. */
import type { ClaimHost } from "../../core/events/claimed.ts";
import type { Host } from "../../ports/index.ts";
import type { MemoryProcess } from "./process.ts";

export interface MemoryHosts {
  /** What `process` knows of the machine `name`; machines know nothing of each other. */
  on(name: string, process: MemoryProcess): Host;
}

export function createMemoryHosts(): MemoryHosts {
  const processes = new Map<string, MemoryProcess>();
  let pids = 0;
  const nameOf = (host: ClaimHost): string => `${host.bootId} ${host.pid} ${host.startTime}`;
  return {
    on: (name, process) => {
      const pid = ++pids;
      const self: ClaimHost = { pid, startTime: String(pid), bootId: name, pidNamespace: "memory" };
      processes.set(nameOf(self), process);
      return {
        self: () => self,
        look: (other) => {
          if (other.bootId !== name || other.pidNamespace !== self.pidNamespace) return "elsewhere";
          const state = processes.get(nameOf(other))?.state ?? "killed";
          return state === "killed" ? "dead" : "alive";
        },
      };
    },
  };
}
