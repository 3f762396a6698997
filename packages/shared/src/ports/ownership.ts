import type { OwnerId } from "../core/brand.ts";

/** A process's one liveness lease. It decides only who should try; it proves nothing. */
export interface Liveness {
  /** True until the deadline that was counted from before the last renewal's request, on a monotonic clock. */
  valid(): boolean;
  /** Extends it by its ttl; false where it is lost or the service cannot be reached. Never throws. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** `unreachable`: the lease service does not answer; the caller falls back on the ledger's silence. */
export type HolderState = "live" | "expired" | "unreachable";

export interface Ownership {
  register(ownerId: OwnerId, ttlMs: number): Promise<Liveness>;
  holder(ownerId: OwnerId): Promise<HolderState>;
  /** Arbitrates who takes over: true for one caller a `resource` within `ttlMs`. */
  tryTake(resource: string, by: OwnerId, ttlMs: number): Promise<boolean>;
  /** Counts a member into a group for `ttlMs`, or out of it with 0, and names who is in it; null where the service does not answer. Never throws. */
  gather(group: string, member: string, ttlMs: number): Promise<readonly string[] | null>;
  close(): Promise<void>;
}
