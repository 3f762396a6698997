import { describe, expect, test } from "vitest";
import { canonicalJson } from "@loopledger/shared/core/json";
import { parseFailpoints, restoreFolds } from "@loopledger/shared/runtime";
import { createSystemClock } from "@loopledger/shared/system";
import { until } from "../support/until.ts";
import { memoryPlace, sqlitePlace } from "../support/walks.ts";
import { compare, rebuild } from "../../services/projector/src/comparison.ts";
import { changedViews, documents, expectEqual, opened, sessions, sorted, started, walk } from "./views.ts";

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

  test("a running projector goes over to the projection that is taken into use, and leaves the other one as it is", async () => {
    const place = opened(makePlace());
    const engine = await place.join();
    const projector = await started(engine, { lookMs: 10 });
    await walk(engine, { seed: 17, steps: 60 });
    await projector.caughtUp();
    await rebuild(engine, "fresh");
    await place.views().use("fresh");
    await walk(engine, { seed: 18, steps: 60 });
    await until(async () => {
      const [written, end] = [await place.views().cursors("fresh"), await engine.ledger.end()];
      return [...end].every(([partition, offset]) => (written.get(partition) ?? 0) >= offset);
    }, { what: "the projection in use to be written" });
    const left = await place.views().cursors("main");
    await walk(engine, { seed: 19, steps: 60 });
    await projector.caughtUp();
    await expectEqual(engine, "fresh");
    expect(await place.views().cursors("main")).toEqual(left);
    await until(() => projector.ready(), { what: "the projector to be ready" });
    expect(engine.supervision.faulty()).toEqual([]);
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
