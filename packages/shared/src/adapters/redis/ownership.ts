/// <reference path="./redlock.d.ts" />
/**
 * Leases on Redis. They decide who should try; no call throws, and losing all of them breaks nothing.
 *
 * O1. A lease has a second deadline of its own, counted from before each request on this process's monotonic clock: a holder
 *     that was stopped, or cannot reach Redis, knows by itself when its time is over.
 * O2. A lease that is gone is lost for good; only a new registration makes another one.
 * O3. No answer is no answer: it is neither `live` nor `expired`.
 */
import { randomUUID } from "node:crypto";
import Redlock, { type Lock } from "redlock";
import type { OwnerId } from "../../core/brand.ts";
import type { Clock, HolderState, Ids, Liveness, Ownership } from "../../ports/index.ts";
import { connectRedis, type RedisConnection, type RedisOptions, type ScriptCall, unreachableBy } from "./connection.ts";
import { refuseEviction } from "./eviction.ts";
import { extendLease, gatherGroup, lookAtLease, releaseLease } from "./leases.ts";

export interface RedisOwnershipOptions extends RedisOptions {
  /** Everything of this system stands under it: `<prefix>:lease:…`. */
  readonly prefix: string;
  readonly ids?: Pick<Ids, "uuid">;
}

/**
 * Throws `redis_evicts`, and `views_unreachable` where TLS is refused by one of the two. A Redis that cannot be reached is none of its errors:
 * it answers as soon as there is one.
 */
export async function openRedisOwnership({ prefix, ids, ...options }: RedisOwnershipOptions): Promise<Ownership> {
  const connection = connectRedis(options);
  const { clock, log } = options;
  if (await connection.ready()) await refuseEvictionOrClose(connection, log);
  else if (connection.trouble()?.isCertain) {
    connection.close();
    throw unreachableBy(connection);
  }
  const scripts = {
    extend: connection.command("loopledgerExtend", extendLease),
    release: connection.command("loopledgerRelease", releaseLease),
    look: connection.command("loopledgerLook", lookAtLease),
    gather: connection.command("loopledgerGather", gatherGroup),
  };
  const leaseOf = (ownerId: OwnerId): string => `${prefix}:lease:owner:${ownerId}`;
  const uuid = (): string => ids?.uuid() ?? randomUUID();
  return {
    register: async (ownerId, ttlMs) => {
      const ttl = Math.ceil(ttlMs);
      const lease = createLiveness({ connection, scripts, clock, key: leaseOf(ownerId), value: `${uuid()} ${ttl}`, ttlMs: ttl });
      await lease.renew();
      return lease;
    },
    holder: async (ownerId) => {
      const found = await answerOf(scripts.look(leaseOf(ownerId)));
      return found === null ? "unreachable" : (states[Number(found)] ?? "unreachable");
    },
    gather: async (group, member, ttlMs) => {
      const members = await answerOf(scripts.gather(`${prefix}:lease:group:${group}`, member, Math.ceil(ttlMs)));
      return Array.isArray(members) ? members.map(String) : null;
    },
    tryTake: createArbiter(connection, { clock, keyOf: (resource) => `${prefix}:lease:take:${resource}` }),
    close: async () => connection.close(),
  };
}

const states: readonly HolderState[] = ["expired", "live", "unreachable"];

async function refuseEvictionOrClose(connection: RedisConnection, log: RedisOptions["log"]): Promise<void> {
  try {
    await refuseEviction(connection, log);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "redis_evicts")) return;
    connection.close();
    throw error;
  }
}

/** The answer, or null where there is none. */
async function answerOf(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch {
    return null;
  }
}

function createLiveness(options: {
  readonly connection: RedisConnection; readonly scripts: { readonly extend: ScriptCall; readonly release: ScriptCall };
  readonly clock: Clock; readonly key: string; readonly value: string; readonly ttlMs: number;
}): Liveness {
  const { connection, scripts, clock, key, value, ttlMs } = options;
  let deadline = Number.NEGATIVE_INFINITY;
  let state: "new" | "held" | "lost" = "new";
  const isLost = (): boolean => state === "lost";
  const request = (): Promise<unknown> =>
    state === "new" ? connection.client.set(key, value, "PX", ttlMs) : scripts.extend(key, value, ttlMs);
  return {
    valid: () => state === "held" && clock.monotonic() < deadline,
    renew: async () => {
      if (isLost()) return false;
      const now = clock.monotonic();
      const answer = await answerOf(request());
      if (isLost() || answer === null) return false;
      if (answer !== "OK" && Number(answer) !== 1) {
        state = "lost";
        return false;
      }
      state = "held";
      deadline = now + ttlMs;
      return true;
    },
    release: async () => {
      if (isLost()) return;
      state = "lost";
      await answerOf(scripts.release(key, value));
    },
  };
}

/** How long an arbitration may take, whatever the servers do. */
const TAKE_MS = 1_500;
/** Takes that are remembered; what is over is forgotten when there are more. */
const TAKEN_MAX = 1_000;

interface Taken {
  readonly by: OwnerId;
  readonly lock: Lock;
  /** On the monotonic clock, counted from before the request. */
  readonly until: number;
}

/** Takeovers by redlock. Whoever has taken a resource takes it again; nobody else does within its time. */
function createArbiter(
  { client }: RedisConnection, { clock, keyOf }: { readonly clock: Clock; readonly keyOf: (resource: string) => string },
): Ownership["tryTake"] {
  const redlock = new Redlock([client], { retryCount: 0 });
  const taken = new Map<string, Taken>();
  const take = async (resource: string, by: OwnerId, ttlMs: number): Promise<Taken> => {
    const before = taken.get(resource);
    const until = clock.monotonic() + ttlMs;
    const isOwn = before !== undefined && before.by === by && before.until > clock.monotonic();
    const acquire = (): Promise<Lock> => redlock.acquire([keyOf(resource)], ttlMs);
    // A lock that Redis has forgotten is free to all again.
    const lock = await (isOwn ? before.lock.extend(ttlMs).catch(acquire) : acquire());
    return { by, lock, until };
  };
  return async (resource, by, ttlMs) => {
    const taking = take(resource, by, Math.ceil(ttlMs));
    const late = Promise.withResolvers<null>();
    const cancel = clock.after(TAKE_MS, () => late.resolve(null));
    const found = await Promise.race([taking.catch(() => null), late.promise]);
    cancel();
    if (found === null) {
      // An answer that comes too late is given back: nobody acts on it.
      taking.then(({ lock }) => lock.release()).catch(() => undefined);
      return false;
    }
    if (taken.size >= TAKEN_MAX) for (const [key, one] of taken) if (one.until <= clock.monotonic()) taken.delete(key);
    taken.set(resource, found);
    return true;
  };
}
