/** What every store of read models owes: the cursor and its views change together, in one order, and a page can be followed. */
import fc from "fast-check";
import type { Offset, SessionId } from "../../core/brand.ts";
import type { ReadModel, ViewWrite } from "../../ports/index.ts";
import { readModelFence } from "./read-model-fence.ts";
import type { ReadModelWorld } from "./read-model-world.ts";
import { inWorld, type Vitest } from "./suite.ts";

const session = (name: string): SessionId => name as SessionId;
const offset = (value: number): Offset => value as Offset;
const view = (name: string, at: number, more: Partial<ViewWrite> = {}): ViewWrite => ({
  sessionId: session(name), disposition: "running", at, labels: {}, document: `{"id":"${name}","at":${at}}`, snapshot: `{"s":${at}}`, ...more,
});
const step = ([partition, from, to]: readonly [number, number, number], views: readonly ViewWrite[] = []) =>
  ({ partition, from: offset(from), to: offset(to), views });
async function aliveOf(model: ReadModel, projection: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { sessionId, snapshot } of model.alive(projection)) found[sessionId] = snapshot;
  return found;
}
async function pages(model: ReadModel, query: Parameters<ReadModel["list"]>[1]): Promise<string[][]> {
  const found: string[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await model.list("main", cursor === undefined ? query : { ...query, cursor });
    found.push(page.items.map((item) => item.sessionId));
    cursor = page.next;
  }
  return found;
}

export function readModelContract(vitest: Vitest, name: string, make: () => Promise<ReadModelWorld>): void {
  vitest.describe(`read model on ${name}`, () => {
    cursors(vitest, make);
    readModelFence(vitest, make);
    views(vitest, make);
    projections(vitest, make);
    model(vitest, make);
  });
}

function cursors({ it, expect }: Vitest, make: () => Promise<ReadModelWorld>): void {
  it("begins with no cursor, and moves one only from where it stands", inWorld(make, async (world) => {
    const store = await world.open("l1");
    expect(await store.cursors("main")).toEqual(new Map());
    expect(await store.write("main", step([0, 5, 6], [view("a", 1)]))).toBe(false);
    expect(await store.write("main", step([0, 0, 5], [view("a", 1)]))).toBe(true);
    expect(await store.write("main", step([2, 0, 9]))).toBe(true);
    expect(await store.cursors("main")).toEqual(new Map([[0, 5], [2, 9]]));
    expect(await store.cursors("other")).toEqual(new Map());
  }));

  it("changes nothing on a step that was taken already", inWorld(make, async (world) => {
    const [one, two] = [await world.open("l1"), await world.open("l1")];
    expect(await one.write("main", step([0, 0, 5], [view("a", 1)]))).toBe(true);
    expect(await one.write("main", step([0, 5, 7], [view("a", 2)]))).toBe(true);
    expect(await two.write("main", step([0, 0, 5], [view("a", 1), view("b", 1)]))).toBe(false);
    expect(await two.get("main", session("a"))).toBe(view("a", 2).document);
    expect(await two.get("main", session("b"))).toBeNull();
    expect(await two.cursors("main")).toEqual(new Map([[0, 7]]));
  }));

  it("lets one of two projectors take each step", inWorld(make, async (world) => {
    const stores = [await world.open("l1"), await world.open("l1")];
    for (let at = 0; at < 20; at++) {
      const taken = await Promise.all(stores.map((store, i) => store.write("main", step([0, at, at + 1], [view("a", at, { document: `${i}` })]))));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await stores[0]?.get("main", session("a"))).toBe(`${taken.indexOf(true)}`);
    }
  }));
}

function views({ it, expect }: Vitest, make: () => Promise<ReadModelWorld>): void {
  it("gives the last document of a session, and null for one that it does not know", inWorld(make, async (world) => {
    const store = await world.open("l1");
    expect(await store.get("main", session("a"))).toBeNull();
    await store.write("main", step([0, 0, 1], [view("a", 1)]));
    await store.write("main", step([0, 1, 2], [view("a", 2, { document: "später 😀" })]));
    expect(await store.get("main", session("a"))).toBe("später 😀");
  }));

  it("lists the newest first, in pages that can be followed while rows arrive", inWorld(make, async (world) => {
    const store = await world.open("l1");
    await store.write("main", step([0, 0, 1], ["a", "b", "c", "d", "e"].map((name, i) => view(name, 10 * Math.floor(i / 2)))));
    expect(await pages(store, { limit: 2 })).toEqual([["e", "d"], ["c", "b"], ["a"]]);
    const first = await store.list("main", { limit: 2 });
    await store.write("main", step([0, 1, 2], [view("new", 99)]));
    const second = await store.list("main", { limit: 2, cursor: first.next as string });
    expect(second.items.map((item) => item.sessionId)).toEqual(["c", "b"]);
    expect(second.items[0]?.document).toBe(view("c", 10).document);
    expect(await pages(store, { limit: 6 })).toEqual([["new", "e", "d", "c", "b", "a"]]);
    expect(await store.list("unknown", { limit: 5 })).toEqual({ items: [], next: null });
  }));

  it("refuses what is no cursor", inWorld(make, async (world) => {
    const store = await world.open("l1");
    for (const cursor of ["", "x", "-1~a", "1~", "1 ~a"]) {
      await expect(store.list("main", { limit: 1, cursor })).rejects.toMatchObject({ code: "invalid_cursor" });
    }
  }));

  it("lists by disposition and by label, as they are now", inWorld(make, async (world) => {
    const store = await world.open("l1");
    await store.write("main", step([0, 0, 1], [
      view("a", 1, { labels: { team: "web", tier: "1" } }), view("b", 2, { labels: { team: "web" }, disposition: "done" }),
      view("c", 3, { labels: { team: "core" }, disposition: "done" }), view("d", 4),
    ]));
    expect(await pages(store, { limit: 9, label: "team=web" })).toEqual([["b", "a"]]);
    expect(await pages(store, { limit: 1, disposition: "done" })).toEqual([["c"], ["b"]]);
    expect(await pages(store, { limit: 9, label: "team=web", disposition: "done" })).toEqual([["b"]]);
    await store.write("main", step([0, 1, 2], [view("a", 5, { labels: { team: "core" }, disposition: "done" })]));
    expect(await pages(store, { limit: 9, label: "team=web" })).toEqual([["b"]]);
    expect(await pages(store, { limit: 9, label: "team=core", disposition: "done" })).toEqual([["a", "c"]]);
    expect(await pages(store, { limit: 9, label: "team=%" })).toEqual([[]]);
  }));

  it("gives the snapshots of those that are alive", inWorld(make, async (world) => {
    const store = await world.open("l1");
    const many = Array.from({ length: 450 }, (_, i) => view(`s${i}`, i));
    await store.write("main", step([0, 0, 1], many));
    await store.write("main", step([0, 1, 2], [view("s7", 500, { snapshot: null, disposition: "done" }), view("s8", 501, { snapshot: "new" })]));
    const alive = await aliveOf(store, "main");
    expect(Object.keys(alive)).toHaveLength(449);
    expect([alive["s7"], alive["s8"], alive["s9"]]).toEqual([undefined, "new", '{"s":9}']);
  }));
}

function projections({ it, expect }: Vitest, make: () => Promise<ReadModelWorld>): void {
  it("keeps projections apart, and drops one whole", inWorld(make, async (world) => {
    const store = await world.open("l1");
    await store.write("main", step([0, 0, 3], [view("a", 1)]));
    await store.write("fresh", step([0, 0, 1], [view("a", 9, { labels: { x: "y" } })]));
    expect(await store.projections()).toEqual(["fresh", "main"]);
    await store.drop("fresh");
    expect(await store.projections()).toEqual(["main"]);
    expect([await store.get("fresh", session("a")), await store.get("main", session("a"))]).toEqual([null, view("a", 1).document]);
    expect(await store.cursors("fresh")).toEqual(new Map());
    expect(await store.write("fresh", step([0, 0, 1], [view("b", 1)]))).toBe(true);
    expect(await store.get("fresh", session("a"))).toBeNull();
  }));

  it("remembers for all processes which projection is in use", inWorld(make, async (world) => {
    const [one, two] = [await world.open("l1"), await world.open("l1")];
    expect(await one.active()).toBe("main");
    await one.use("fresh");
    expect([await one.active(), await two.active()]).toEqual(["fresh", "fresh"]);
  }));

  it("never shows the views of another ledger", inWorld(make, async (world) => {
    const old = await world.open("l1");
    await old.write("main", step([0, 0, 3], [view("a", 1)]));
    await old.use("special");
    const other = await world.open("l2");
    expect(await other.cursors("main")).toEqual(new Map());
    expect([await other.get("main", session("a")), await other.active()]).toEqual([null, "main"]);
    expect([await aliveOf(other, "main"), await other.projections()]).toEqual([{}, []]);
    expect(await other.write("main", step([0, 0, 1], [view("b", 1)]))).toBe(true);
    expect(await old.get("main", session("b"))).toBeNull();
  }));
}

/** Any run of steps leaves what a table written down beside it says. */
function model({ it, expect }: Vitest, make: () => Promise<ReadModelWorld>): void {
  const anyStep = fc.record({
    partition: fc.nat(1), from: fc.nat(3), by: fc.nat(1),
    views: fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), at: fc.nat(5), alive: fc.boolean() }), { maxLength: 3 }),
  });
  it("is what the steps that were taken made it", async () => {
    await fc.assert(fc.asyncProperty(fc.array(anyStep, { maxLength: 15 }), (steps) => inWorld(make, async (world) => {
      const store = await world.open("l1");
      const expected = new Map<string, ViewWrite>();
      const next = new Map<number, number>();
      for (const { partition, from, by, views: drawn } of steps) {
        const writes = drawn.map(({ name, at, alive }) => view(name, at, { snapshot: alive ? `${at}` : null }));
        const isDue = (next.get(partition) ?? 0) === from;
        expect(await store.write("main", step([partition, from, from + by], writes))).toBe(isDue);
        if (!isDue) continue;
        next.set(partition, from + by);
        for (const write of writes) expected.set(write.sessionId, write);
      }
      expect(await store.cursors("main")).toEqual(next);
      for (const name of ["a", "b", "c"]) expect(await store.get("main", session(name))).toBe(expected.get(name)?.document ?? null);
      const alive = [...expected.values()].filter((write) => write.snapshot !== null).map((write) => [write.sessionId, write.snapshot]);
      expect(await aliveOf(store, "main")).toEqual(Object.fromEntries(alive));
    })()), { numRuns: 40 });
  });
}
