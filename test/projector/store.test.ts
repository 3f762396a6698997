import { describe, expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { guardsOn } from "@loopledger/shared/core/fencing/guards";
import { createMemoryReadModel, createVirtualClock } from "@loopledger/shared/memory";
import type { ReadModel } from "@loopledger/shared/ports";
import { createSystemClock } from "@loopledger/shared/system";
import { randomOf } from "@loopledger/shared/testing";
import { until } from "../support/until.ts";
import { Walker, carryToEnd, memoryPlace } from "../support/walks.ts";
import { compare } from "../../services/projector/src/comparison.ts";
import { startProjector } from "../../services/projector/src/projector.ts";
import { changedViews, documents, expectEqual, opened, sessions, started, walk } from "./views.ts";

describe("the store of the views", () => {
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

  test("a store that was emptied while nothing happens is filled again by itself", async () => {
    const clock = createVirtualClock();
    const model = createMemoryReadModel({ clock });
    const place = opened(memoryPlace(clock));
    const engine = await place.join({ views: model.handle({ ledgerId: place.ledgerId }) });
    const projector = await startProjector(engine);
    const id = sessions[0] as SessionId;
    await new Walker(engine, randomOf(1)).step(id);
    await clock.advance(1_000);
    const before = await documents(engine.views as ReadModel);
    expect(before.size).toBe(1);
    model.forget();
    await clock.advance(10_000);
    expect(await documents(engine.views as ReadModel)).toEqual(before);
    await projector.stop();
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

  test("however long a write takes, the projector is busy for a tenth of the time at most", async () => {
    const clock = createVirtualClock();
    const place = opened(memoryPlace(clock));
    const writeMs = 100;
    let [writes, isSlow] = [0, false];
    const views = changedViews(place.views(), async (call) => {
      writes++;
      if (isSlow) await new Promise<void>((over) => clock.after(writeMs, over));
      return call();
    });
    const engine = await place.join({ views });
    const projector = await startProjector(engine, { batchMs: 50 });
    const walker = new Walker(engine, randomOf(21));
    isSlow = true;
    for (let tick = 0; tick < 20; tick++) {
      await walker.step(sessions[0] as SessionId);
      await clock.advance(writeMs);
    }
    const [before, ticks] = [writes, 300];
    for (let tick = 0; tick < ticks; tick++) {
      await walker.step(sessions[0] as SessionId);
      await clock.advance(writeMs);
    }
    expect(writes - before).toBeGreaterThan(10);
    expect((writes - before - 1) * writeMs).toBeLessThanOrEqual((ticks * writeMs) / 10);
    isSlow = false;
    await clock.advance(writeMs);
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
