/** Landmarks of a log on Redis, `<prefix>:landmarks:<partition>`. The connection is made when the first one is asked for. */
import type { Landmarks } from "../../ports/index.ts";
import { connectRedis, type RedisConnection, type RedisOptions } from "./connection.ts";

export interface RedisLandmarksOptions extends RedisOptions {
  readonly prefix: string;
}

export function openRedisLandmarks({ prefix, ...options }: RedisLandmarksOptions): Landmarks {
  let connection: RedisConnection | null = null;
  let first: Promise<unknown> | null = null;
  let isClosed = false;
  const keyOf = (partition: number): string => `${prefix}:landmarks:${partition}`;
  /** A connection that is being made is waited for once; where there was none by then, nobody waits again. */
  const ready = async (): Promise<RedisConnection | null> => {
    if (isClosed) return null;
    connection ??= connectRedis(options);
    first ??= connection.ready();
    await first;
    return connection.client.status === "ready" ? connection : null;
  };
  return {
    load: async (partition) => {
      const found = await ready();
      return found === null ? null : found.client.get(keyOf(partition)).catch(() => null);
    },
    save: async (partition, text) => {
      const found = await ready();
      await found?.client.set(keyOf(partition), text).catch(() => null);
    },
    close: async () => {
      isClosed = true;
      connection?.close();
    },
  };
}
