/**
 * Whether this Redis may throw away what it was given. A view that was evicted would look like a session that does not exist,
 * so a server that evicts is refused, by its policy and not by what it has evicted so far.
 */
import type { Redis } from "ioredis";
import { LoopledgerError } from "../../core/errors.ts";
import { connectRedis, type RedisConnection, type RedisOptions } from "./connection.ts";

export interface RedisHealth {
  /** Reachable, and known not to evict. */
  readonly ok: boolean;
  readonly reachable: boolean;
  /** null where the server tells neither its settings nor its memory report. */
  readonly policy: string | null;
  readonly detail: string;
  /** What mends it, as a command where there is one; null where that is not known. */
  readonly fix: string | null;
}

/** For `doctor`: connects, looks and leaves. Never throws. */
export async function lookAtRedis(options: RedisOptions): Promise<RedisHealth> {
  const connection = connectRedis(options);
  const { address } = connection;
  const away = (why: string): RedisHealth => {
    const trouble = connection.trouble();
    return {
      ok: false, reachable: false, policy: null, detail: `Redis at ${address} ${trouble === null ? why : `cannot be used: ${trouble.why}`}.`, fix: trouble?.next ?? null,
    };
  };
  try {
    if (!(await connection.ready())) return away("cannot be reached");
    const policy = await evictionPolicy(connection.client);
    if (policy === null) {
      const fix = `Allow this user INFO, or see yourself that maxmemory-policy is noeviction.`;
      return { ok: false, reachable: true, policy, detail: `Redis at ${address} does not tell its maxmemory-policy.`, fix };
    }
    const detail = `Redis at ${address} answers; its maxmemory-policy is ${policy}.`;
    return { ok: !evicts(policy), reachable: true, policy, detail, fix: evicts(policy) ? fixOf(address) : null };
  } catch (error) {
    return away(`does not answer: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    connection.close();
  }
}

/** Throws `redis_evicts`; whatever the connection throws. Where the server does not tell, that is said in the log. */
export async function refuseEviction({ client, address }: RedisConnection, log: RedisOptions["log"]): Promise<void> {
  const policy = await evictionPolicy(client);
  if (policy === null) log.warn({ redis: address }, "Redis: it does not tell its maxmemory-policy, which must be noeviction");
  else if (evicts(policy)) {
    throw new LoopledgerError("redis_evicts", `Redis at ${address} may throw away what it was given: its maxmemory-policy is ${policy}.`, { next: `${fixOf(address)} (and set it in its configuration file), then start again.` });
  }
}

const evicts = (policy: string): boolean => policy !== "noeviction";
const fixOf = (address: string): string => {
  const port = /:(\d+)$/.exec(address)?.[1] ?? "6379";
  return `redis-cli -h ${address.replace(/:\d+$/, "")} -p ${port} CONFIG SET maxmemory-policy noeviction`;
};

/** By CONFIG, else by INFO where CONFIG is forbidden, as it is with most providers. */
async function evictionPolicy(client: Redis): Promise<string | null> {
  try {
    const told = await client.config("GET", "maxmemory-policy");
    const policy = (told as unknown as readonly unknown[])[1];
    if (typeof policy === "string") return policy;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  try {
    return /^maxmemory_policy:(\S+)/m.exec(await client.info("memory"))?.[1] ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Error && /^(NOPERM|ERR unknown|ERR Unknown)/.test(error.message);
