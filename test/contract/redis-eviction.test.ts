/** A Redis that may throw views away: refused before anything is written, and found behind a connection that was made anew. */
import { lookAtRedis } from "@loopledger/shared/redis";
import { afterEach, describe, expect, it } from "vitest";
import { ownRedis } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { RedisStage, codeOf, s1, view, write } from "./redis-stage.ts";
import { silent } from "./redis-outside.ts";

const stage = new RedisStage();
const { clock, send, leases, views } = stage;

describe("a Redis that evicts", () => {
  const policy = (name: string) => send("CONFIG", "SET", "maxmemory-policy", name);
  afterEach(() => policy("noeviction"));

  it("is refused at the start, with the command that mends it", async () => {
    await policy("allkeys-lru");
    const refused = { code: "redis_evicts", next: expect.stringContaining(`redis-cli -h 127.0.0.1 -p ${stage.redis.port} CONFIG SET maxmemory-policy noeviction`) };
    await expect(views()).rejects.toMatchObject(refused);
    await expect(leases()).rejects.toMatchObject(refused);
    const look = () => lookAtRedis({ url: stage.redis.url, clock, log: silent });
    expect(await look()).toMatchObject({ ok: false, reachable: true, policy: "allkeys-lru", fix: expect.stringContaining("CONFIG SET") });
    await policy("noeviction");
    expect(await look()).toMatchObject({ ok: true, policy: "noeviction", fix: null });
    await views();
  });

  it("is found where CONFIG is forbidden, and asked about where nothing is told", async () => {
    await send("ACL", "SETUSER", "few", "on", ">secret", "~*", "+@all", "-config");
    await send("ACL", "SETUSER", "fewer", "on", ">secret", "~*", "+@all", "-config", "-info");
    const as = (user: string): string => stage.redis.url.replace("redis://", `redis://${user}:secret@`);
    await policy("volatile-ttl");
    await expect(views({ url: as("few") })).rejects.toMatchObject({ code: "redis_evicts", message: expect.not.stringContaining("secret") });
    const warned: object[] = [];
    const store = await views({ url: as("fewer"), log: { warn: (bindings) => void warned.push(bindings) } });
    expect(warned).toEqual([{ redis: `127.0.0.1:${stage.redis.port}` }]);
    expect(await write(store, [0, 1], view(1))).toBe(true);
  });

  it("is noticed behind a connection that was made anew, until it is mended", async () => {
    const store = await views();
    expect(await write(store, [0, 1], view(1))).toBe(true);
    await policy("allkeys-lru");
    expect(await write(store, [1, 2], view(2))).toBe(true);
    await send("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await until(async () => (await codeOf(store.get("main", s1))) === "redis_evicts", { what: "the policy to be noticed" });
    await policy("noeviction");
    expect(await store.get("main", s1)).toBe(view(2).document);
  });

  it("is told apart from none", async () => {
    const nobody = await ownRedis();
    await nobody.stop();
    expect(await lookAtRedis({ url: nobody.url, clock, log: silent })).toMatchObject({ ok: false, reachable: false, policy: null });
    expect(await codeOf(views({ url: nobody.url }))).toBe("views_unreachable");
  });
});
