/** The projector on views in Redis: the same views as a fold from nothing, also after Redis was emptied, killed and stopped under it. */
import { randomUUID } from "node:crypto";
import type { ReadModel } from "@loopledger/shared/ports";
import { openRedisReadModel } from "@loopledger/shared/redis";
import type { Engine } from "@loopledger/shared/runtime";
import { createSystemClock } from "@loopledger/shared/system";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { compare, rebuild } from "../../services/projector/src/comparison.ts";
import { sendTo } from "../contract/redis-outside.ts";
import { type OwnRedis, ownRedis } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { memoryPlace } from "../support/walks.ts";
import { cleanUp, expectEqual, freshFold, opened, started, walk } from "./views.ts";

vi.setConfig({ testTimeout: 120_000 });
const clock = createSystemClock();
const log = { warn: () => undefined };
let redis: OwnRedis;
beforeAll(async () => {
  redis = await ownRedis();
});
afterAll(() => redis.stop());

/** A ledger in memory, with views in Redis for as many processes as join. */
function place(): { join(): Promise<Engine> } {
  const memory = opened(memoryPlace());
  const prefix = `projector-${randomUUID()}`;
  const open = async (): Promise<ReadModel> => {
    const views = await openRedisReadModel({ url: redis.url, prefix, ledgerId: memory.ledgerId, clock, log });
    cleanUp.push(() => views.close());
    return views;
  };
  return { join: async () => memory.join({ views: await open() }) };
}

test("the views are what a fold from nothing gives, and a start in their middle goes on from them", async () => {
  const { join } = place();
  const engine = await join();
  await walk(engine, { seed: 41, steps: 150 });
  const first = await started(engine);
  await first.caughtUp();
  await expectEqual(engine);
  await first.stop();
  await walk(engine, { seed: 42, steps: 60 });
  const second = await started(await join(), { apart: true });
  await second.caughtUp();
  await expectEqual(engine);
  const sessions = (await freshFold(engine)).size;
  expect(await compare(engine, "main")).toEqual({ equal: true, sessions, differing: [] });
});

test("two projectors at once end with the views of one", async () => {
  const { join } = place();
  const engines = [await join(), await join()];
  const projectors = [await started(engines[0] as Engine), await started(engines[1] as Engine)];
  await walk(engines[0] as Engine, { seed: 43, steps: 200 });
  await Promise.all(projectors.map((projector) => projector.caughtUp()));
  await expectEqual(engines[1] as Engine);
});

test("a Redis that was emptied is filled again, and equals a fresh projection key by key", async () => {
  const engine = await place().join();
  const projector = await started(engine);
  await walk(engine, { seed: 44, steps: 120 });
  await projector.caughtUp();
  await sendTo(redis.url, "FLUSHALL");
  await walk(engine, { seed: 45, steps: 30 });
  await projector.caughtUp();
  await expectEqual(engine);
  await rebuild(engine, "fresh");
  await expectEqual(engine, "fresh");
});

test("while Redis is down or stopped readiness is red; then it goes on by itself", async () => {
  const engine = await place().join();
  const projector = await started(engine);
  await walk(engine, { seed: 46, steps: 60 });
  await projector.caughtUp();
  await redis.kill();
  await walk(engine, { seed: 47, steps: 30 });
  await until(() => !projector.ready(), { what: "readiness to go red", timeoutMs: 60_000 });
  await redis.restart();
  await projector.caughtUp();
  await expectEqual(engine);
  redis.pause();
  await walk(engine, { seed: 48, steps: 30 });
  await until(() => !projector.ready(), { what: "readiness to go red", timeoutMs: 60_000 }).finally(() => redis.resume());
  await projector.caughtUp();
  await expectEqual(engine);
});
