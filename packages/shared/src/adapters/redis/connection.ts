/**
 * One connection to Redis on which nobody hangs: what cannot be sent now fails now, and what is not answered fails in time.
 *
 * C1. Every command has a deadline. A command that has failed may still be carried out later; whoever sent it must not care.
 * C2. Nothing is queued while there is no connection, and nothing is sent twice after one was lost.
 * C3. A connection that is silent, or leads to a server that has become a copy, is given up and made anew, for as long as it takes.
 */
import { Redis } from "ioredis";
import type { Clock } from "../../ports/index.ts";

/** Where trouble is told; a pino logger is one. */
export interface RedisLog {
  warn(bindings: object, text: string): void;
}
export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and database where they are needed. */
  readonly url: string;
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
  /** Whether it is ready, after a short wait where it is being made. */
  ready(): Promise<boolean>;
  /** How often it was lost so far: what was found out about the server before may hold no longer. */
  losses(): number;
  close(): void;
}

const CONNECT_MS = 2_000;
const COMMAND_MS = 1_500;
/** Nothing heard for so long while something is awaited: the connection is taken for dead. */
const SILENCE_MS = 5_000;
const READY_MS = 2_500;

export function connectRedis({ url, clock, log }: RedisOptions): RedisConnection {
  const address = addressOf(url);
  const client = new Redis(url, {
    connectTimeout: CONNECT_MS, commandTimeout: COMMAND_MS, socketTimeout: SILENCE_MS, maxRetriesPerRequest: 1,
    enableOfflineQueue: false, autoResendUnfulfilledCommands: false, protocol: 2,
    retryStrategy: (tries) => Math.min(50 * tries, 1_000),
    // A server that refuses writes because it is a copy now: the address may lead to its successor.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  let losses = 0;
  let isAway = false;
  let isClosed = false;
  client.on("ready", () => {
    isAway = false;
  });
  client.on("close", () => {
    losses++;
  });
  // Without a listener an error would end the process; told once an outage, since the attempts go on for as long as it lasts.
  client.on("error", (error) => {
    if (!isAway && !isClosed) log.warn({ err: error, redis: address }, "Redis: no connection; it is tried again");
    isAway = true;
  });
  return {
    client, address,
    command: (name, { keys, lua }) => {
      client.defineCommand(name, { numberOfKeys: keys, lua });
      const call = (client as unknown as Record<string, ScriptCall>)[name] as ScriptCall;
      return (...values) => call.apply(client, values);
    },
    ready: () => waitForReady(client, clock),
    losses: () => losses,
    close: () => {
      isClosed = true;
      client.disconnect();
    },
  };
}

function waitForReady(client: Redis, clock: Clock): Promise<boolean> {
  return new Promise((done) => {
    const end = (isReady: boolean): void => {
      cancel();
      client.off("ready", onReady);
      client.off("end", onEnd);
      done(isReady);
    };
    const onReady = (): void => end(true);
    const onEnd = (): void => end(false);
    const cancel = clock.after(READY_MS, onEnd);
    client.on("ready", onReady);
    client.on("end", onEnd);
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
