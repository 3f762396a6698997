import type { ClaimHost } from "../core/events/claimed.ts";

/** `elsewhere`: another host, boot or pid namespace; nothing can be said. */
export type ProcessState = "alive" | "dead" | "elsewhere";

/** What this host knows of processes: on it a dead pid is proof enough that an owner is gone. */
export interface Host {
  self(): ClaimHost;
  look(process: ClaimHost): ProcessState;
}
