/** What lies in Redis, seen from outside: the keys that other systems read, and nothing left of what was removed. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { ReadModel, ViewWrite } from "@loopledger/shared/ports";
import { openRedisOwnership, openRedisReadModel } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { redisUrl } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { keysOf, removeKeys, sendTo, silent } from "./redis-outside.ts";

const clock = createSystemClock();
const url = await redisUrl();
let prefix: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  prefix = `layout-${randomUUID()}`;
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await removeKeys(url, `${prefix}:*`);
});

/** Everything that the server is asked for from now on, as it tells it. */
async function watch(at: string): Promise<() => string> {
  const { hostname, port } = new URL(at);
  const socket = connect(Number(port === "" ? 6379 : port), hostname);
  opened.push({ close: async () => void socket.destroy() });
  let told = "";
  socket.on("data", (chunk) => {
    told += chunk.toString("latin1");
  });
  socket.write("MONITOR\r\n");
  await until(() => told.includes("+OK"), { what: "the server to tell what it is asked for" });
  return () => told;
}
const send = (...words: readonly (string | number)[]) => sendTo(url, ...words);
/** The keys below the prefix. */
const keys = async (): Promise<string[]> => (await keysOf(url, `${prefix}:*`)).map((key) => key.slice(prefix.length + 1));
const views = async (ledgerId = "l1"): Promise<ReadModel> => {
  const store = await openRedisReadModel({ url, prefix, ledgerId, clock, log: silent });
  opened.push(store);
  return store;
};
const view = (id: string, at: number, more: Partial<ViewWrite> = {}): ViewWrite => (
  { sessionId: id as SessionId, disposition: "running", at, labels: {}, document: `{"sessionId":"${id}"}`, snapshot: "{}", ...more });
const write = (store: ReadModel, [partition, from, to]: readonly [number, number, number], ...written: ViewWrite[]): Promise<boolean> =>
  store.write("main", { partition, from: from as Offset, to: to as Offset, views: written });

describe("the keys that other systems read", () => {
  it("are the views, the sessions of a disposition by time, the cursors and the projection in use", async () => {
    const store = await views();
    await write(store, [3, 0, 7], view("a", 20), view("b", 10), view("c", 15, { disposition: "done" }));
    await write(store, [0, 0, 2], view("d", 5));
    const main = `${prefix}:main`;
    expect(await send("GET", `${main}:session:a`)).toBe('{"sessionId":"a"}');
    expect(await send("ZRANGE", `${main}:by-disposition:running`, 0, -1, "WITHSCORES")).toEqual(["d", "5", "b", "10", "a", "20"]);
    expect(await send("HMGET", `${main}:cursors`, 0, 3, 1)).toEqual(["2", "7", null]);
    expect(await send("GET", `${prefix}:active`)).toBe("main");
    await write(store, [3, 7, 8], view("a", 30, { disposition: "handed_off" }));
    expect(await send("ZRANGE", `${main}:by-disposition:running`, 0, -1)).toEqual(["d", "b"]);
    expect(await send("ZRANGE", `${main}:by-disposition:handed_off`, 0, -1, "WITHSCORES")).toEqual(["a", "30"]);
    await store.use("other");
    expect(await send("GET", `${prefix}:active`)).toBe("other");
  });

  it("have no time to live, and leases have one", async () => {
    await write(await views(), [0, 0, 1], view("a", 1, { labels: { team: "web" } }));
    for (const key of await keysOf(url, `${prefix}:*`)) expect([key, await send("TTL", key)]).toEqual([key, -1]);
    const ownership = await openRedisOwnership({ url, prefix, clock, log: silent });
    opened.push(ownership);
    await ownership.register("w" as never, 60_000);
    await ownership.tryTake("s1", "w" as never, 60_000);
    const leases = await keysOf(url, `${prefix}:lease:*`);
    expect(leases.map((key) => key.slice(prefix.length))).toEqual([":lease:owner:w", ":lease:take:s1"]);
    for (const key of leases) expect(await send("PTTL", key)).toBeGreaterThan(0);
  });

  it("order sessions of one time as every other store does, whatever their ids are made of", async () => {
    const store = await views();
    const ids = ["a", "B", "_", "-", "0", "a.b", "a-b", "a:b", "aB", "Z", "z"];
    await write(store, [0, 0, 1], ...ids.map((id) => view(id, 7)), view("later", 8), view("sooner", 6));
    const expected = ["later", ...[...ids].sort().reverse(), "sooner"];
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await store.list("main", { limit: 1, ...(cursor !== "" && { cursor }) });
      found.push(...page.items.map(({ sessionId }) => sessionId));
      cursor = page.next;
    }
    expect(found).toEqual(expected);
    // The row of a cursor may have moved on, or be gone: what follows is what lay behind it.
    const page = await store.list("main", { limit: 3, cursor: "7~a0" });
    expect(page.items.map(({ sessionId }) => sessionId)).toEqual(expected.slice(expected.indexOf("a:b") + 1).slice(0, 3));
  });

  it("are found by two filters however few fit both", async () => {
    const store = await views();
    const many = Array.from({ length: 2_500 }, (_, i) => view(`s${i}`, i, { labels: { team: "web" }, disposition: i % 1_249 === 0 ? "done" : "running" }));
    await write(store, [0, 0, 1], ...many, ...Array.from({ length: 2_600 }, (_, i) => view(`o${i}`, i, { disposition: "done" })));
    const page = await store.list("main", { limit: 2, label: "team=web", disposition: "done" });
    expect(page.items.map(({ sessionId }) => sessionId)).toEqual(["s2498", "s1249"]);
    const rest = await store.list("main", { limit: 2, label: "team=web", disposition: "done", cursor: page.next as string });
    expect([rest.items.map(({ sessionId }) => sessionId), rest.next]).toEqual([["s0"], null]);
  });
});

describe("a step that fails on its way", () => {
  it("leaves the cursor where it was, and is written whole when it comes again", async () => {
    const store = await views();
    await write(store, [0, 0, 3], view("a", 1));
    await send("SET", `${prefix}:main:by-label:team=web`, "somebody else's");
    const step = (): Promise<boolean> => write(store, [0, 3, 5], view("b", 2, { labels: { team: "web" } }), view("c", 3));
    await expect(step()).rejects.toMatchObject({ code: "views_unreachable" });
    expect(await store.cursors("main")).toEqual(new Map([[0, 3]]));
    await send("DEL", `${prefix}:main:by-label:team=web`);
    expect(await step()).toBe(true);
    expect(await store.cursors("main")).toEqual(new Map([[0, 5]]));
    expect((await store.list("main", { limit: 9 })).items.map(({ sessionId }) => sessionId)).toEqual(["c", "b", "a"]);
    expect((await store.list("main", { limit: 9, label: "team=web" })).items.map(({ sessionId }) => sessionId)).toEqual(["b"]);
  });
});

describe("a projection that is removed", () => {
  it("goes in parts, between which the server serves others", async () => {
    const store = await views();
    await write(store, [0, 0, 1], ...Array.from({ length: 1_700 }, (_, i) => view(`s${i}`, i)));
    const seen = await watch(url);
    await store.drop("main");
    await send("GET", `${prefix}:over`);
    const lines = await until(() => seen().includes(`${prefix}:over`) && seen().split("\n"), { what: "the server to have told of all" });
    const parts: number[] = [];
    for (const line of lines.filter((one) => one.includes(`"${prefix}:`))) {
      if (/"evalsha"/i.test(line)) parts.push(0);
      else if (/"UNLINK" .*:session:/.test(line)) parts.push((parts.pop() ?? 0) + 1);
    }
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(1_700);
    expect(Math.max(...parts)).toBeLessThanOrEqual(500);
  });

  it("leaves nothing behind, however large it was", async () => {
    const store = await views();
    const many = Array.from({ length: 1_700 }, (_, i) => view(`s${i}`, i, { labels: { n: `${i % 7}` }, disposition: i % 2 ? "done" : "running" }));
    await write(store, [0, 0, 1], ...many);
    await store.drop("main");
    expect(await keys()).toEqual(["active", "active-ledger"]);
  });

  it("half-way is read by nobody, and the next who writes removes the rest first", async () => {
    const store = await views();
    await write(store, [0, 0, 9], view("old", 1, { labels: { team: "web" } }), view("older", 1));
    await send("HSET", `${prefix}:projections`, "main", "clearing:whoever died");
    expect([await store.get("main", "old" as SessionId), await store.cursors("main"), await store.projections()]).toEqual([null, new Map(), []]);
    expect((await store.list("main", { limit: 9 })).items).toEqual([]);
    expect(await write(store, [0, 0, 1], view("new", 2))).toBe(true);
    expect((await store.list("main", { limit: 9 })).items.map(({ sessionId }) => sessionId)).toEqual(["new"]);
    expect((await keys()).filter((key) => key.includes("old") || key.includes("label"))).toEqual([]);
  });

  it("by many at once ends as by one", async () => {
    const stores = [await views(), await views(), await views()];
    await write(stores[0] as ReadModel, [0, 0, 1], ...Array.from({ length: 1_200 }, (_, i) => view(`s${i}`, i)));
    await Promise.all(stores.map((store) => store.drop("main")));
    expect(await keys()).toEqual(["active", "active-ledger"]);
  });
});

describe("views of another ledger", () => {
  it("give way to the first step of a newcomer, and who wrote them stops", async () => {
    const [old, other] = [await views("l1"), await views("l2")];
    await write(old, [0, 0, 5], view("a", 1, { labels: { team: "web" } }));
    expect(await write(other, [0, 3, 4], view("b", 1))).toBe(false);
    expect(await old.get("main", "a" as SessionId)).not.toBeNull();
    expect(await write(other, [0, 0, 4], view("b", 1))).toBe(true);
    expect([await old.get("main", "a" as SessionId), await old.cursors("main")]).toEqual([null, new Map()]);
    expect(await send("EXISTS", `${prefix}:main:session:a`)).toBe(0);
    expect(await write(old, [0, 5, 6], view("a", 2))).toBe(false);
    await expect(write(old, [0, 0, 1], view("a", 2))).rejects.toMatchObject({ code: "ledger_mismatch" });
    expect(await other.cursors("main")).toEqual(new Map([[0, 4]]));
  });
});
