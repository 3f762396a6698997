/** A Redis that may throw views away: refused before anything is written, and found behind a connection that was made anew. */
import { randomUUID } from "node:crypto";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ownership, ReadModel, ViewWrite } from "@loopledger/shared/ports";
import { lookAtRedis, openRedisOwnership, openRedisReadModel } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type OwnRedis, ownRedis } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { sendTo, silent } from "./redis-outside.ts";

vi.setConfig({ testTimeout: 120_000 });
const clock = createSystemClock();
const s1 = "s1" as SessionId;
const patient = { timeoutMs: 60_000 };

let redis: OwnRedis;
let prefix: string;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  redis = await ownRedis();
});
beforeEach(() => {
  prefix = `eviction-${randomUUID()}`;
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
afterAll(() => redis.stop());

const send = (...words: readonly (string | number)[]) => sendTo(redis.url, ...words);
const keep = <T extends { close(): Promise<void> }>(one: T): T => {
  opened.push(one);
  return one;
};
const leases = async (): Promise<Ownership> => keep(await openRedisOwnership({ url: redis.url, prefix, clock, log: silent }));
const views = async (url = redis.url): Promise<ReadModel> => keep(await openRedisReadModel({ url, prefix, ledgerId: "l1", clock, log: silent }));
const view = (at: number): ViewWrite => ({ sessionId: s1, disposition: "running", at, labels: {}, document: `{"at":${at}}`, snapshot: `{"s":${at}}` });
const write = (store: ReadModel, [from, to]: readonly [number, number], ...written: ViewWrite[]): Promise<boolean> =>
  store.write("main", { partition: 0, from: from as Offset, to: to as Offset, views: written });
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => "answered", (error: { code: unknown }) => error.code);

describe("a Redis that evicts", () => {
  const policy = (name: string) => send("CONFIG", "SET", "maxmemory-policy", name);
  afterEach(() => policy("noeviction"));

  it("is refused at the start, with the command that mends it", async () => {
    await policy("allkeys-lru");
    const refused = { code: "redis_evicts", next: expect.stringContaining(`redis-cli -h 127.0.0.1 -p ${redis.port} CONFIG SET maxmemory-policy noeviction`) };
    await expect(views()).rejects.toMatchObject(refused);
    await expect(leases()).rejects.toMatchObject(refused);
    const look = () => lookAtRedis({ url: redis.url, clock, log: silent });
    expect(await look()).toMatchObject({ ok: false, reachable: true, policy: "allkeys-lru", fix: expect.stringContaining("CONFIG SET") });
    await policy("noeviction");
    expect(await look()).toMatchObject({ ok: true, policy: "noeviction", fix: null });
    await views();
  });

  it("is found where CONFIG is forbidden, and asked about where nothing is told", async () => {
    await send("ACL", "SETUSER", "few", "on", ">secret", "~*", "+@all", "-config");
    await send("ACL", "SETUSER", "fewer", "on", ">secret", "~*", "+@all", "-config", "-info");
    const as = (user: string): string => redis.url.replace("redis://", `redis://${user}:secret@`);
    await policy("volatile-ttl");
    await expect(views(as("few"))).rejects.toMatchObject({ code: "redis_evicts", message: expect.not.stringContaining("secret") });
    const warned: object[] = [];
    const store = keep(await openRedisReadModel({ url: as("fewer"), prefix, ledgerId: "l1", clock, log: { warn: (bindings) => void warned.push(bindings) } }));
    expect(warned).toEqual([{ redis: `127.0.0.1:${redis.port}` }]);
    expect(await write(store, [0, 1], view(1))).toBe(true);
  });

  it("is noticed behind a connection that was made anew, until it is mended", async () => {
    const store = await views();
    expect(await write(store, [0, 1], view(1))).toBe(true);
    await policy("allkeys-lru");
    expect(await write(store, [1, 2], view(2))).toBe(true);
    await send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await until(async () => (await codeOf(store.get("main", s1))) === "redis_evicts", { what: "the policy to be noticed", ...patient });
    await policy("noeviction");
    expect(await store.get("main", s1)).toBe(view(2).document);
  });

  it("is told apart from none", async () => {
    const nobody = await ownRedis();
    await nobody.stop();
    expect(await lookAtRedis({ url: nobody.url, clock, log: silent })).toMatchObject({ ok: false, reachable: false, policy: null });
    expect(await codeOf(views(nobody.url))).toBe("views_unreachable");
  });
});
