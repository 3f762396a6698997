import { afterEach, describe, expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { guardsOn } from "@loopledger/shared/core/fencing/guards";
import { canonicalJson } from "@loopledger/shared/core/json";
import { evolve } from "@loopledger/shared/core/session/evolve";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { createMemoryReadModel, createVirtualClock } from "@loopledger/shared/memory";
import type { ReadModel } from "@loopledger/shared/ports";
import { type Engine, parseFailpoints, restoreFolds } from "@loopledger/shared/runtime";
import { createSystemClock } from "@loopledger/shared/system";
import { randomOf } from "@loopledger/shared/testing";
import { until } from "../../../test/support/until.ts";
import { type Place, Walker, carryToEnd, memoryPlace, sqlitePlace } from "../../../test/support/walks.ts";
import { compare, rebuild } from "../src/comparison.ts";
import { type Projector, type ProjectorOptions, startProjector } from "../src/projector.ts";

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).reverse()) await close();
});
function opened(place: Place): Place {
  cleanUp.push(place.close);
  return place;
}
async function started(engine: Engine, options: ProjectorOptions = {}): Promise<Projector> {
  const projector = await startProjector(engine, { batchMs: 2, ...options });
  cleanUp.push(() => projector.stop());
  return projector;
}
const sessions = ["a", "b", "c", "d", "e"].map((name) => `walk-${name}` as SessionId);

async function walk(engine: Engine, options: { seed: number; steps: number }): Promise<void> {
  const random = randomOf(options.seed);
  const walker = new Walker(engine, random);
  for (let step = 0; step < options.steps; step++) await walker.step(random.pick(sessions));
}

/** What the views have to hold: every entry of the ledger folded once more, apart from all that runs. */
async function freshFold(engine: Engine): Promise<Map<string, string>> {
  const states = new Map<string, SessionState>();
  for (let partition = 0; partition < engine.ledger.partitions; partition++) {
    for (const entry of await engine.ledger.read(partition, 0 as Offset, 1_000_000)) {
      if (entry.key.startsWith("_ledger/")) continue;
      const before = states.get(entry.key) ?? emptySession(entry.key as SessionId);
      states.set(entry.key, evolve(before, { ...entry, parsed: parseRecord(entry.value), text: entry.value ?? "", verified: "off" }, engine.ids.sha256).state);
    }
  }
  return new Map([...states].filter(([, state]) => state.submission).map(([id, state]) => [id, canonicalJson(statusOf(state))]));
}
async function documents(views: ReadModel, projection = "main"): Promise<Map<string, string>> {
  const page = await views.list(projection, { limit: 1000 });
  return new Map(page.items.map(({ sessionId, document }) => [sessionId, document]));
}
const sorted = (map: Map<string, string>): [string, string][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
async function expectEqual(engine: Engine, projection?: string): Promise<void> {
  const expected = await freshFold(engine);
  expect(expected.size).toBeGreaterThan(0);
  expect(sorted(await documents(engine.views as ReadModel, projection))).toEqual(sorted(expected));
}
/** A store of views in which a call can be changed. */
type Step = Parameters<ReadModel["write"]>[1];
function changedViews(views: ReadModel, write: (call: () => Promise<boolean>, step: Step) => Promise<boolean>): ReadModel {
  return {
    ...views, alive: (projection) => views.alive(projection),
    write: (projection, step) => write(() => views.write(projection, step), step),
  };
}

const places = [["memory", () => memoryPlace()], ["SQLite", () => sqlitePlace()]] as const;

describe.each(places)("on %s", (_name, makePlace) => {
  test.each([1, 2, 3, 4])("views equal a fresh fold byte for byte after a random walk (seed %i)", async (seed) => {
    const engine = await opened(makePlace()).join();
    const projector = await started(engine);
    await walk(engine, { seed, steps: 300 });
    await projector.caughtUp();
    await expectEqual(engine);
    expect(await compare(engine, "main")).toEqual({ equal: true, sessions: sessions.length, differing: [] });
  });

  test("a projector that begins later, beside folds that follow already, takes over from its own folding", async () => {
    const engine = await opened(makePlace()).join();
    await walk(engine, { seed: 5, steps: 150 });
    const projector = await started(engine);
    await expectEqual(engine);
    await walk(engine, { seed: 6, steps: 150 });
    await projector.caughtUp();
    await expectEqual(engine);
  });

  test("two projectors of two processes at once write the same views as one", async () => {
    const place = opened(makePlace());
    const [writer, first, second] = [await place.join(), await place.join({ still: true }), await place.join()];
    const projectors = [await started(first), await started(second)];
    await walk(writer, { seed: 7, steps: 300 });
    await Promise.all(projectors.map((projector) => projector.caughtUp()));
    await expectEqual(writer);
    expect(projectors.map((projector) => projector.ready())).toEqual([true, true]);
  });

  test.each(["projector.before_write", "projector.after_write"])("a crash at %s leaves nothing out and counts nothing twice", async (point) => {
    const place = opened(makePlace());
    const { failpoints } = parseFailpoints(`${point}=throw@4`, createSystemClock());
    const engine = await place.join({ failpoints });
    const projector = await started(engine);
    await walk(engine, { seed: 8, steps: 300 });
    await projector.caughtUp();
    await walk(engine, { seed: 9, steps: 50 });
    await projector.caughtUp();
    await until(() => projector.ready(), { what: "the projector to be ready again" });
    await expectEqual(engine);
  });

  test("an old projector that wakes up with a batch of its own changes nothing", async () => {
    const place = opened(makePlace());
    const engine = await place.join();
    const held: (() => void)[] = [];
    let hold = false;
    const views = changedViews(place.views(), async (call) => {
      if (hold) await new Promise<void>((resolve) => held.push(resolve));
      return call();
    });
    const old = await place.join({ views });
    const sleeper = await started(old);
    await walk(engine, { seed: 10, steps: 60 });
    hold = true;
    await walk(engine, { seed: 11, steps: 60 });
    await until(() => held.length > 0, { what: "the old projector to hold a batch" });
    const other = await started(engine);
    await walk(engine, { seed: 12, steps: 100 });
    await other.caughtUp();
    const [cursors, shown] = [await engine.views?.cursors("main"), await documents(place.views())];
    hold = false;
    for (const wake of held.splice(0)) wake();
    await sleeper.caughtUp();
    expect(await engine.views?.cursors("main")).toEqual(cursors);
    expect(sorted(await documents(place.views()))).toEqual(sorted(shown));
    await expectEqual(engine);
  });

  test("rebuilding beside a running session appends nothing of its own and loses nothing", async () => {
    const place = opened(makePlace());
    const engine = await place.join();
    const projector = await started(engine);
    await walk(engine, { seed: 13, steps: 150 });
    const before = await engine.ledger.end();
    await rebuild(engine, "second");
    expect(await engine.ledger.end()).toEqual(before);
    await expectEqual(engine, "second");
    await Promise.all([rebuild(engine, "third"), walk(engine, { seed: 14, steps: 80 })]);
    await rebuild(engine, "third");
    await projector.caughtUp();
    await expectEqual(engine, "third");
    expect(sorted(await documents(place.views(), "third"))).toEqual(sorted(await documents(place.views())));
  });

  test("a process that starts from the views has the states of one that read the whole ledger", async () => {
    const place = opened(makePlace());
    const engine = await place.join();
    const projector = await started(engine);
    await walk(engine, { seed: 15, steps: 200 });
    await projector.caughtUp();
    await projector.stop();
    await walk(engine, { seed: 16, steps: 40 });
    const fresh = await place.join({ still: true });
    await restoreFolds(fresh);
    const alive = sessions.filter((id) => engine.folds.peek(id)?.end === null);
    expect(alive.length).toBeGreaterThan(0);
    for (const id of alive) expect(canonicalJson(fresh.folds.peek(id))).toBe(canonicalJson(engine.folds.peek(id)));
  });
});

describe("on memory", () => {
  test("with the cursor compare taken away an old projector puts views and cursor back", async () => {
    const place = opened(memoryPlace());
    const engine = await place.join();
    const id = sessions[0] as SessionId;
    const walker = new Walker(engine, randomOf(20));
    const partition = engine.ledger.partitionOf(id);
    const applied: number[] = [];
    let release: (() => void) | null = null;
    const views = changedViews(place.views(), async (call, step) => {
      if (!release && step.views.length > 0) await new Promise<void>((resolve) => (release = resolve));
      const isApplied = await call();
      if (isApplied && step.partition === partition) applied.push(step.to);
      return isApplied;
    });
    for (let step = 0; step < 20; step++) await walker.step(id);
    const old = await place.join({ views, guards: { ...guardsOn, cursorCompare: false } });
    const opening = startProjector(old, { batchMs: 2, once: true });
    await until(() => release, { what: "the old projector to hold its batch" });
    for (let step = 0; step < 20; step++) await walker.step(id);
    const other = await started(engine);
    await other.stop();
    const before = (await engine.views?.cursors("main"))?.get(partition) ?? 0;
    (release as (() => void) | null)?.();
    await (await opening).stop();
    expect(applied.some((to) => to < before)).toBe(true);
  });

  test("views of another ledger are not used, and its own begin at zero", async () => {
    const clock = createSystemClock();
    const model = createMemoryReadModel({ clock });
    const [first, second] = [opened(memoryPlace(clock, "ledger-one")), opened(memoryPlace(clock, "ledger-two"))];
    const one = await first.join({ views: model.handle({ ledgerId: "ledger-one" }) });
    await walk(one, { seed: 22, steps: 100 });
    await (await started(one)).caughtUp();
    const two = await second.join({ views: model.handle({ ledgerId: "ledger-two" }) });
    await walk(two, { seed: 23, steps: 40 });
    const projector = await started(two);
    await projector.caughtUp();
    await expectEqual(two);
    await expectEqual(one);
  });

  test("views ahead of the ledger halt the projector with the reason", async () => {
    const place = opened(memoryPlace());
    const engine = await place.join();
    await place.views().write("main", { partition: 1, from: 0 as Offset, to: 5_000 as Offset, views: [] });
    const projector = await started(engine);
    expect(projector.ready()).toBe(false);
    expect(projector.halted).toMatchObject({ code: "ledger_lost" });
    await expect(projector.caughtUp()).rejects.toThrow(/go up to 5000/);
  });

  test("while the store of the views is down readiness is red; then it recovers by itself", async () => {
    const place = opened(memoryPlace());
    let isDown = true;
    const views = changedViews(place.views(), (call) => (isDown ? Promise.reject(new Error("no answer")) : call()));
    const engine = await place.join({ views });
    await walk(engine, { seed: 24, steps: 50 });
    const projector = await started(engine);
    expect(projector.ready()).toBe(false);
    isDown = false;
    await projector.caughtUp();
    expect(projector.ready()).toBe(true);
    await expectEqual(engine);
    isDown = true;
    await walk(engine, { seed: 25, steps: 50 });
    await until(() => !projector.ready(), { what: "readiness to go red" });
    isDown = false;
    await projector.caughtUp();
    await expectEqual(engine);
  });

  test("a store that forgot everything is filled again from zero", async () => {
    const clock = createSystemClock();
    const model = createMemoryReadModel({ clock });
    const place = opened(memoryPlace(clock));
    const engine = await place.join({ views: model.handle({ ledgerId: place.ledgerId }) });
    const projector = await started(engine);
    await walk(engine, { seed: 26, steps: 100 });
    await projector.caughtUp();
    model.forget();
    await walk(engine, { seed: 27, steps: 20 });
    await projector.caughtUp();
    await expectEqual(engine);
  });

  test("a store that loses requests and answers ends with the same views", async () => {
    const clock = createSystemClock();
    const model = createMemoryReadModel({ clock, seed: 3 });
    const place = opened(memoryPlace(clock));
    const engine = await place.join({ views: model.handle({ ledgerId: place.ledgerId, faults: { drop: 0.05, loseAck: 0.05 } }) });
    const projector = await started(engine);
    await walk(engine, { seed: 28, steps: 200 });
    await projector.caughtUp();
    await expectEqual(engine);
  });

  test("many changes within one pause are one write of the latest state", async () => {
    const clock = createVirtualClock();
    const place = opened(memoryPlace(clock));
    let writes = 0;
    const views = changedViews(place.views(), (call) => {
      writes++;
      return call();
    });
    const engine = await place.join({ views });
    const id = sessions[0] as SessionId;
    const projector = await startProjector(engine, { batchMs: 50 });
    await new Walker(engine, randomOf(1)).step(id);
    await clock.advance(50);
    writes = 0;
    await carryToEnd(engine, id);
    expect(writes).toBe(0);
    await clock.advance(50);
    expect(writes).toBe(1);
    expect(JSON.parse((await views.get("main", id)) ?? "{}")).toMatchObject({ disposition: "done", asOf: engine.folds.peek(id)?.seq });
    await projector.stop();
  });

  test("a full batch does not wait for the pause", async () => {
    const clock = createVirtualClock();
    const engine = await opened(memoryPlace(clock)).join();
    const projector = await startProjector(engine, { batchMs: 60_000, batchMax: 3 });
    for (const id of sessions.slice(0, 3)) await new Walker(engine, randomOf(1)).step(id);
    await clock.advance(1);
    expect((await documents(engine.views as ReadModel)).size).toBe(3);
    await projector.stop();
  });

  test("a session that has ended keeps its view and no snapshot", async () => {
    const engine = await opened(memoryPlace()).join();
    const projector = await started(engine);
    const [ended, running] = sessions as [SessionId, SessionId];
    const walker = new Walker(engine, randomOf(2));
    await walker.step(ended);
    await walker.step(running);
    await carryToEnd(engine, ended);
    await projector.caughtUp();
    const alive: string[] = [];
    for await (const { sessionId } of (engine.views as ReadModel).alive("main")) alive.push(sessionId);
    expect(alive).toEqual([running]);
    expect(JSON.parse((await engine.views?.get("main", ended)) ?? "{}")).toMatchObject({ disposition: "done" });
  });

  test("a view that was changed by hand is found by the comparison", async () => {
    const engine = await opened(memoryPlace()).join();
    const projector = await started(engine);
    await walk(engine, { seed: 29, steps: 80 });
    await projector.caughtUp();
    const id = sessions[2] as SessionId;
    const partition = engine.ledger.partitionOf(id);
    const at = (await engine.views?.cursors("main"))?.get(partition) as Offset;
    const forged = { sessionId: id, disposition: "done", at: 1, labels: {}, document: "{}", snapshot: null };
    await engine.views?.write("main", { partition, from: at, to: at, views: [forged] });
    expect(await compare(engine, "main")).toEqual({ equal: false, sessions: sessions.length, differing: [id] });
  });
});
