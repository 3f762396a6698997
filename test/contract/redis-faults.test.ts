/** Leases and views while their Redis is stopped, killed, emptied, or given to somebody else. */
import type { OwnerId, SessionId } from "@loopledger/shared/core/brand";
import type { Ownership, ReadModel } from "@loopledger/shared/ports";
import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { RedisStage, codeOf, s1, view, write } from "./redis-stage.ts";

const [a, b] = ["a" as OwnerId, "b" as OwnerId];
const ttlMs = 2_000;
const stage = new RedisStage();
const { clock, send, leases, views } = stage;
async function aliveOf(store: ReadModel): Promise<string[]> {
  const found: string[] = [];
  for await (const { sessionId } of store.alive("main")) found.push(sessionId);
  return found;
}

describe("leases", () => {
  it("are over by their holder's own clock while Redis is stopped, and nobody hangs", async () => {
    const ownership = await leases();
    const lease = await ownership.register(a, 8_000);
    stage.redis.pause();
    try {
      expect(lease.valid()).toBe(true);
      const asked = [lease.renew(), ownership.holder(a), ownership.tryTake("r", a, ttlMs)];
      await until(() => !lease.valid(), { what: "the lease to be over" });
      expect(await Promise.all(asked)).toEqual([false, "unreachable", false]);
      expect((await ownership.register(b, ttlMs)).valid()).toBe(false);
    } finally {
      stage.redis.resume();
    }
    await until(async () => (await ownership.holder(a)) === "expired", { what: "Redis to say that the lease is over" });
    expect([await lease.renew(), lease.valid()]).toEqual([false, false]);
    // What was asked for while it was stopped and came too late was given back.
    await until(() => ownership.tryTake("r", b, ttlMs), { what: "the resource to be free" });
    expect((await ownership.register(a, 60_000)).valid()).toBe(true);
  });

  it("count from before the request, however late the answer, and are over at once in a process that stood still", async () => {
    let now = 5_000;
    const own = { ...clock, monotonic: () => now };
    const ownership = await leases({ clock: own });
    const registering = ownership.register(a, 60_000);
    now += 20_000;
    const lease = await registering;
    now += 39_999;
    expect(lease.valid()).toBe(true);
    now += 1;
    expect(lease.valid()).toBe(false);
    const renewing = lease.renew();
    now += 60_000;
    expect([await renewing, lease.valid()]).toEqual([true, false]);
    expect([await lease.renew(), lease.valid()]).toEqual([true, true]);
  });

  it("are neither live nor over for who asks a Redis that answers too late", async () => {
    const [ownership, store] = [await leases(), await views()];
    const lease = await ownership.register(a, 60_000);
    await write(store, [0, 1], view(1));
    await send("CLIENT", "PAUSE", 4_000, "ALL");
    const asked = [ownership.holder(a), ownership.tryTake("r", a, ttlMs), lease.renew(), codeOf(store.get("main", s1))];
    expect(await Promise.all(asked)).toEqual(["unreachable", false, false, "views_unreachable"]);
    expect(lease.valid()).toBe(true);
    await until(async () => (await ownership.holder(a)) === "live", { what: "Redis to be in time again" });
    expect([await lease.renew(), await store.get("main", s1)]).toEqual([true, view(1).document]);
  });

  it("are gone with a Redis that was killed, and new ones are given by the one that comes after it", async () => {
    const ownership = await leases();
    const lease = await ownership.register(a, 60_000);
    await stage.redis.kill();
    try {
      expect(await ownership.holder(a)).toBe("unreachable");
      expect([await lease.renew(), lease.valid()]).toEqual([false, true]);
    } finally {
      await stage.redis.restart();
    }
    await until(async () => (await ownership.holder(a)) === "expired", { what: "the new Redis to answer" });
    expect([await lease.renew(), lease.valid()]).toEqual([false, false]);
    await lease.release();
    expect((await ownership.register(a, 60_000)).valid()).toBe(true);
    expect(await ownership.holder(a)).toBe("live");
  });

  it("of a Redis that was emptied under a live holder are lost at its next renewal, and its new one is its own", async () => {
    const [one, two] = [await leases(), await leases()];
    const lease = await one.register(a, 60_000);
    await send("FLUSHALL");
    expect(await two.holder(a)).toBe("expired");
    expect(await lease.renew()).toBe(false);
    expect([lease.valid(), await lease.renew()]).toEqual([false, false]);
    const next = await one.register(a, 60_000);
    await lease.release();
    expect([next.valid(), await next.renew(), await two.holder(a)]).toEqual([true, true, "live"]);
  });

  it("that somebody has made to last are no proof of life; the live holder's next renewal puts them right", async () => {
    const ownership = await leases();
    const lease = await ownership.register(a, 60_000);
    const key = `${stage.prefix}:lease:owner:a`;
    for (const change of [["PERSIST", key], ["PEXPIRE", key, 86_400_000]]) {
      expect(await send(...(change as [string, string]))).toBe(1);
      expect(await ownership.holder(a)).toBe("unreachable");
      expect(await lease.renew()).toBe(true);
      expect(await ownership.holder(a)).toBe("live");
    }
    await send("SET", key, "somebody else's");
    expect([await lease.renew(), await ownership.holder(a)]).toEqual([false, "unreachable"]);
    await lease.release();
    expect(await send("GET", key)).toBe("somebody else's");
  });

  it("and takeovers need no script that Redis remembers", async () => {
    const ownership = await leases();
    const lease = await ownership.register(a, 60_000);
    for (let i = 0; i < 2; i++) {
      expect([await lease.renew(), await ownership.holder(a), await ownership.tryTake(`r${i}`, a, 60_000)]).toEqual([true, "live", true]);
      expect(await ownership.tryTake(`r${i}`, b, 60_000)).toBe(false);
      expect(await ownership.tryTake(`r${i}`, a, 60_000)).toBe(true);
      await send("SCRIPT", "FLUSH");
    }
  });

  it("are given as soon as there is a Redis, where there was none at the start", async () => {
    await stage.redis.kill();
    let ownership: Ownership;
    try {
      ownership = await leases();
      expect([(await ownership.register(a, ttlMs)).valid(), await ownership.holder(a)]).toEqual([false, "unreachable"]);
    } finally {
      await stage.redis.restart();
    }
    await until(async () => (await ownership.register(a, ttlMs)).valid(), { what: "a lease" });
  });

  it("go on by themselves after Redis was a copy that refuses writes", async () => {
    const ownership = await leases();
    const store = await views();
    await send("REPLICAOF", "127.0.0.1", 1);
    try {
      expect((await ownership.register(a, ttlMs)).valid()).toBe(false);
      expect(await codeOf(write(store, [0, 1], view(1)))).toBe("views_unreachable");
    } finally {
      await send("REPLICAOF", "NO", "ONE");
    }
    await until(async () => (await ownership.register(a, ttlMs)).valid(), { what: "a lease" });
    await until(() => write(store, [0, 1], view(1)), { what: "the step to be written" });
  });
});

describe("views", () => {
  it("are refused in time while Redis is stopped; a step without an answer was taken or was not, and never twice", async () => {
    const store = await views();
    expect(await write(store, [0, 1], view(1))).toBe(true);
    stage.redis.pause();
    try {
      const asked = [write(store, [1, 2], view(2)), store.get("main", s1), store.cursors("main"), store.list("main", { limit: 1 }), aliveOf(store)];
      expect(await Promise.all(asked.map(codeOf))).toEqual(asked.map(() => "views_unreachable"));
    } finally {
      stage.redis.resume();
    }
    const at = await until(async () => (await store.cursors("main")).get(0), { what: "Redis to answer" });
    expect([1, 2]).toContain(at);
    expect(await write(store, [at, 3], view(3))).toBe(true);
    expect(await write(store, [1, 2], view(2))).toBe(false);
    expect(await store.get("main", s1)).toBe(view(3).document);
  });

  it("begin anew with a Redis that was killed and came back empty", async () => {
    const store = await views();
    expect(await write(store, [0, 5], view(1))).toBe(true);
    expect(await store.cursors("main")).toEqual(new Map([[0, 5]]));
    await stage.redis.kill();
    expect(await codeOf(store.get("main", s1))).toBe("views_unreachable");
    await stage.redis.restart();
    await until(async () => (await store.cursors("main")).size === 0, { what: "the empty Redis to answer" });
    expect([await write(store, [5, 6], view(2)), await write(store, [0, 5], view(1))]).toEqual([false, true]);
    expect(await aliveOf(store)).toEqual([s1]);
  });

  it("never give snapshots that are older than the cursors that were shown", async () => {
    const store = await views();
    await write(store, [0, 5], view(1));
    await store.cursors("main");
    await send("FLUSHALL");
    expect(await codeOf(aliveOf(store))).toBe("views_unreachable");
    await write(store, [0, 3], view(1));
    expect(await codeOf(aliveOf(store))).toBe("views_unreachable");
    expect(await store.cursors("main")).toEqual(new Map([[0, 3]]));
    expect(await aliveOf(store)).toEqual([s1]);
    await write(store, [3, 9], view(2));
    expect(await aliveOf(store)).toEqual([s1]);
  });

  it("need no script that Redis remembers", async () => {
    const store = await views();
    for (let at = 0; at < 3; at++) {
      expect(await write(store, [at, at + 1], view(at))).toBe(true);
      expect([await store.get("main", s1), (await store.list("main", { limit: 1 })).items.length, await aliveOf(store)]).toEqual([view(at).document, 1, [s1]]);
      await send("SCRIPT", "FLUSH");
    }
  });

  it("stay at their cursor while Redis is full, and go on when it is not", async () => {
    const store = await views();
    expect(await write(store, [0, 1], view(1))).toBe(true);
    await send("CONFIG", "SET", "maxmemory", 1);
    try {
      expect(await codeOf(write(store, [1, 2], view(2)))).toBe("views_unreachable");
      expect([await store.get("main", s1), await store.cursors("main")]).toEqual([view(1).document, new Map([[0, 1]])]);
    } finally {
      await send("CONFIG", "SET", "maxmemory", 0);
    }
    expect(await write(store, [1, 2], view(2))).toBe(true);
  });

  it("that lost a key say so instead of knowing no such session", async () => {
    const store = await views();
    await write(store, [0, 1], view(1), view(2, { sessionId: "s2" as SessionId }));
    await send("DEL", `${stage.prefix}:main:session:s1`);
    expect(await codeOf(store.get("main", s1))).toBe("views_unreachable");
    expect(await codeOf(store.list("main", { limit: 9 }))).toBe("views_unreachable");
    expect(await store.get("main", "s2" as SessionId)).toBe(view(2).document);
    expect(await store.get("main", "never" as SessionId)).toBeNull();
    await write(store, [1, 2], view(3));
    expect(await store.get("main", s1)).toBe(view(3).document);
  });
});
