/**
 * One connection to Redis on which nobody hangs: what cannot be sent now fails now, and what is not answered fails in time.
 *
 * C1. Every command has a deadline. A command that has failed may still be carried out later; whoever sent it must not care.
 * C2. Nothing is queued while there is no connection, and nothing is sent twice after one was lost.
 * C3. A connection that is silent, or leads to a server that has become a copy, is given up and made anew, for as long as it takes.
 * C4. Over TLS a server proves who it is, whatever the process was told by Node's own variables.
 */
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { Redis } from "ioredis";
import { LoopledgerError } from "../../core/errors.ts";
import { tlsCodes, type TlsTrouble, tlsTroubleOf } from "../../core/tls-trouble.ts";
import type { Clock } from "../../ports/index.ts";

/** Where trouble is told; a pino logger is one. */
export interface RedisLog {
  warn(bindings: object, text: string): void;
}
export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and database where they are needed. */
  readonly url: string;
  /** What TLS needs to know (PEM texts), for a `rediss://` URL; left out or null = the authorities that Node knows. */
  readonly tls?: ConnectionOptions | null | undefined;
  readonly clock: Clock;
  readonly log: RedisLog;
}
/** A Lua script as a command: sent by its digest, and in full where the server does not know it. */
export interface Script {
  readonly keys: number;
  readonly lua: string;
}
export type ScriptCall = (...values: (string | number)[]) => Promise<unknown>;

export interface RedisConnection {
  readonly client: Redis;
  /** Host and port, without user and password: for messages. */
  readonly address: string;
  command(name: string, script: Script): ScriptCall;
  /** Whether it is ready, after a short wait where it is being made; TLS that was refused is not waited for. */
  ready(): Promise<boolean>;
  /** How often it was lost so far: what was found out about the server before may hold no longer. */
  losses(): number;
  /** Why TLS does not come about, where that keeps it away now. */
  trouble(): TlsTrouble | null;
  close(): void;
}

const CONNECT_MS = 2_000;
const COMMAND_MS = 1_500;
/** Nothing heard for so long while something is awaited: the connection is taken for dead. */
const SILENCE_MS = 5_000;
const READY_MS = 2_500;

export function connectRedis({ url, tls, clock, log }: RedisOptions): RedisConnection {
  const address = addressOf(url);
  const isTls = /^rediss:/i.test(url);
  const client = new Redis(url, {
    connectTimeout: CONNECT_MS, commandTimeout: COMMAND_MS, socketTimeout: SILENCE_MS, maxRetriesPerRequest: 1,
    ...(isTls && { tls: { ...serverName(url), ...tls, rejectUnauthorized: true } }), enableOfflineQueue: false, autoResendUnfulfilledCommands: false, protocol: 2,
    retryStrategy: (tries) => Math.min(50 * tries, 1_000),
    // A server that refuses writes because it is a copy now: the address may lead to its successor.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  let losses = 0;
  let isAway = false;
  let isReady = false;
  let trouble: TlsTrouble | null = null;
  let isClosed = false;
  client.on("ready", () => {
    isAway = false;
    isReady = true;
    trouble = null;
  });
  client.on("close", () => {
    losses++;
    isReady = false;
  });
  // Without a listener an error would end the process; told once an outage, since the attempts go on for as long as it lasts.
  client.on("error", (error) => {
    trouble = isReady ? null : tlsTroubleOf(beforeReady(error, isTls), { ...place, isTls });
    if (!isAway && !isClosed) log.warn({ redis: address, ...(trouble === null ? { err: error } : { why: trouble.why, next: trouble.next }) }, "Redis: no connection; it is tried again");
    isAway = true;
  });
  return {
    client, address,
    command: (name, { keys, lua }) => {
      client.defineCommand(name, { numberOfKeys: keys, lua });
      const call = (client as unknown as Record<string, ScriptCall>)[name] as ScriptCall;
      return (...values) => call.apply(client, values);
    },
    ready: () => waitForReady(client, { clock, isHopeless: () => trouble?.isCertain ?? false }),
    losses: () => losses,
    trouble: () => trouble,
    close: () => {
      isClosed = true;
      client.disconnect();
    },
  };
}

/** Where TLS is the reason. */
export function unreachableBy(connection: RedisConnection, cause?: unknown): LoopledgerError | null {
  const trouble = connection.trouble();
  return trouble === null ? null : new LoopledgerError("views_unreachable", `Redis at ${connection.address} cannot be used: ${trouble.why}.`, { cause, next: trouble.next });
}

/** Which server is meant, where one address stands for several; the client leaves it out. An IP address is none. */
function serverName(url: string): { readonly servername?: string } {
  const { hostname } = new URL(url);
  return hostname.startsWith("[") || isIP(hostname) !== 0 ? {} : { servername: hostname };
}

const place = {
  who: "Redis", address: "LOOPLEDGER_REDIS_URL", files: "LOOPLEDGER_REDIS_TLS", on: "Write rediss:// in LOOPLEDGER_REDIS_URL", off: "Write redis:// in LOOPLEDGER_REDIS_URL",
} as const;

/** A server hangs up on what it does not understand, or waits for more of it. */
function beforeReady(error: Error & { readonly code?: unknown }, isTls: boolean): Error {
  if (error.code === "ECONNRESET" || error.code === "EPIPE") return Object.assign(new Error(error.message), { code: tlsCodes.hungUp });
  return isTls && error.code === "ETIMEDOUT" ? Object.assign(new Error(error.message), { code: tlsCodes.silent }) : error;
}

function waitForReady(client: Redis, { clock, isHopeless }: { readonly clock: Clock; readonly isHopeless: () => boolean }): Promise<boolean> {
  return new Promise((done) => {
    const end = (isReady: boolean): void => {
      cancel();
      client.off("ready", onReady);
      client.off("end", onEnd);
      client.off("error", onError);
      done(isReady);
    };
    const onReady = (): void => end(true);
    const onEnd = (): void => end(false);
    const onError = (): void => {
      if (isHopeless()) end(false);
    };
    const cancel = clock.after(READY_MS, onEnd);
    client.on("ready", onReady);
    client.on("end", onEnd);
    client.on("error", onError);
    if (client.status === "ready") end(true);
    else if (client.status === "end") end(false);
  });
}

function addressOf(url: string): string {
  try {
    return new URL(url).host || "Redis";
  } catch {
    return "Redis";
  }
}
