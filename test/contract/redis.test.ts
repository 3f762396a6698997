/** The ports on Redis, on a real one: each test has a prefix of its own and takes its keys with it. */
import { randomUUID } from "node:crypto";
import { ownershipContract, readModelContract } from "@loopledger/shared/contracts";
import { openRedisOwnership, openRedisReadModel } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { redisUrl } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { removeKeys, silent } from "./redis-outside.ts";

const clock = createSystemClock();
const url = await redisUrl();

function inPrefix<T extends { close(): Promise<void> }>() {
  const prefix = `test-${randomUUID()}`;
  const opened: T[] = [];
  return {
    prefix,
    keep: (one: T): T => {
      opened.push(one);
      return one;
    },
    close: async () => {
      for (const one of opened) await one.close();
      await removeKeys(url, `${prefix}:*`);
    },
  };
}

ownershipContract(vitest, "redis", async () => {
  const { prefix, keep, close } = inPrefix<Awaited<ReturnType<typeof openRedisOwnership>>>();
  const pass = async (ms: number): Promise<void> => {
    const start = clock.monotonic();
    await until(() => clock.monotonic() - start >= ms, { what: `${ms} ms to pass` });
  };
  return { open: async () => keep(await openRedisOwnership({ url, prefix, clock, log: silent })), pass, close };
});

readModelContract(vitest, "redis", async () => {
  const { prefix, keep, close } = inPrefix<Awaited<ReturnType<typeof openRedisReadModel>>>();
  return { open: async (ledgerId) => keep(await openRedisReadModel({ url, prefix, ledgerId, clock, log: silent })), close };
});
