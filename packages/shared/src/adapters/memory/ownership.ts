/** Leases in memory, with the ways in which a lease service fails: silent, forgetful, and with two holders at once. */
import type { OwnerId } from "../../core/brand.ts";
import type { Clock, Liveness, Ownership } from "../../ports/index.ts";
import type { OwnershipFaults } from "./faults.ts";
import { createMemoryProcess, type MemoryProcess } from "./process.ts";
import { type SeededRandom, seededRandom } from "./random.ts";

export interface MemoryOwnershipOptions {
  readonly clock: Clock;
  readonly seed?: number | string;
}
export interface MemoryOwnership {
  handle(options?: { readonly process?: MemoryProcess; readonly faults?: OwnershipFaults }): Ownership;
  /** Takes one lease away, as an eviction would. */
  lose(ownerId: OwnerId): void;
  /** Forgets everything, as a flushed service would. */
  forget(): void;
}

interface Store {
  /** When each lease ends, on the world's monotonic clock. */
  readonly leases: Map<OwnerId, number>;
  readonly taken: Map<string, { readonly by: OwnerId; readonly until: number }>;
  /** Until when each member counts as one of a group. */
  readonly groups: Map<string, Map<string, number>>;
}

export function createMemoryOwnership({ clock, seed = 0 }: MemoryOwnershipOptions): MemoryOwnership {
  const store: Store = { leases: new Map(), taken: new Map(), groups: new Map() };
  const random = seededRandom(`ownership/${seed}`);
  let handles = 0;
  return {
    handle: ({ process = createMemoryProcess(clock), faults = {} } = {}) =>
      createHandle({ store, clock, process, faults, random: random.fork(String(handles++)) }),
    lose: (ownerId) => store.leases.delete(ownerId),
    forget: () => {
      store.leases.clear();
      store.taken.clear();
      store.groups.clear();
    },
  };
}

interface Wiring {
  readonly store: Store;
  readonly clock: Clock;
  readonly process: MemoryProcess;
  readonly faults: OwnershipFaults;
  readonly random: SeededRandom;
}

function createHandle(wiring: Wiring): Ownership {
  const { store, clock, process, faults, random } = wiring;
  let closed = false;
  /** The answer of the service, or null where it gives none. */
  const ask = <T>(question: () => T): Promise<T | null> => {
    const value = closed || random.chance(faults.unreachable) ? null : question();
    return new Promise((done) => queueMicrotask(() => process.enter(() => done(value))));
  };
  return {
    register: async (ownerId, ttlMs) => {
      const lease = createLiveness({ ...wiring, ownerId, ttlMs, ask });
      await lease.renew();
      return lease;
    },
    holder: async (ownerId) => {
      const live = await ask(() => (store.leases.get(ownerId) ?? 0) > clock.monotonic());
      if (live === null) return "unreachable";
      return live ? "live" : "expired";
    },
    tryTake: async (resource, by, ttlMs) => {
      const taken = await ask(() => {
        const now = clock.monotonic();
        const holder = store.taken.get(resource);
        const isFree = holder === undefined || holder.until <= now || holder.by === by;
        if (!isFree && !random.chance(faults.twice)) return false;
        store.taken.set(resource, { by, until: now + ttlMs });
        return true;
      });
      return taken === true;
    },
    gather: (group, member, ttlMs) => ask(() => {
      const now = clock.monotonic();
      const members = store.groups.get(group) ?? new Map<string, number>();
      store.groups.set(group, members.set(member, now + ttlMs));
      for (const [one, until] of members) if (until <= now) members.delete(one);
      return [...members.keys()].sort();
    }),
    close: async () => {
      closed = true;
    },
  };
}

function createLiveness(options: Wiring & {
  readonly ownerId: OwnerId;
  readonly ttlMs: number;
  readonly ask: <T>(question: () => T) => Promise<T | null>;
}): Liveness {
  const { store, clock, process, faults, random, ownerId, ttlMs, ask } = options;
  let deadline = Number.NEGATIVE_INFINITY;
  let state: "new" | "held" | "lost" = "new";
  const isLost = (): boolean => state === "lost";
  return {
    valid: () => state === "held" && process.clock.monotonic() < deadline,
    renew: async () => {
      if (isLost()) return false;
      const now = process.clock.monotonic();
      const renewed = await ask(() => {
        if (random.chance(faults.lose)) store.leases.delete(ownerId);
        if (state !== "new" && (store.leases.get(ownerId) ?? 0) <= clock.monotonic()) return false;
        store.leases.set(ownerId, clock.monotonic() + ttlMs);
        return true;
      });
      if (renewed === true && !isLost()) {
        state = "held";
        deadline = now + ttlMs;
      } else if (renewed === false) state = "lost";
      return renewed === true;
    },
    release: async () => {
      const wasHeld = state === "held";
      state = "lost";
      if (wasHeld) await ask(() => store.leases.delete(ownerId));
    },
  };
}
