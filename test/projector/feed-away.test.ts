/** A status feed that cannot be reached: views go on, readiness tells the name, and afterwards the feed has everything. */
import { describe, expect, test, vi } from "vitest";
import { createMemoryStatusFeed } from "@loopledger/shared/memory";
import type { StatusFeed } from "@loopledger/shared/ports";
import { until } from "../support/until.ts";
import { type FedPlace, fedPlace } from "./feeds.ts";
import { documents, expectEqual, sorted, started, walk } from "./views.ts";

vi.setConfig({ testTimeout: 120_000 });
const [lookMs, feedPatienceMs] = [10, 50];

async function untilSame({ feed, views }: FedPlace): Promise<void> {
  await until(async () => JSON.stringify(sorted(new Map(feed.latest()))) === JSON.stringify(sorted(await documents(views))), { what: "the feed to be what the views are", timeoutMs: 60_000 });
}

/** A feed whose calls of these names fail in one way while it is away. */
class Away {
  isAway = false;
  readonly #calls: readonly (keyof StatusFeed)[];
  readonly #how: "refuses" | "does not answer";
  readonly #held: (() => void)[] = [];

  constructor(calls: readonly (keyof StatusFeed)[], how: "refuses" | "does not answer") {
    this.#calls = calls;
    this.#how = how;
  }
  over(own: StatusFeed): StatusFeed {
    return {
      write: (step) => this.#call("write", () => own.write(step)), claims: () => this.#call("claims", () => own.claims()),
      read: (from, visit) => this.#call("read", () => own.read(from, visit)), close: () => own.close(),
    };
  }
  /** It answers again; what was asked of it meanwhile it does now. */
  comeBack(): void {
    this.isAway = false;
    for (const goOn of this.#held.splice(0)) goOn();
  }
  async #call<T>(name: keyof StatusFeed, work: () => Promise<T>): Promise<T> {
    if (!this.isAway || !this.#calls.includes(name)) return work();
    if (this.#how === "refuses") throw new Error("The topic takes nothing.");
    await new Promise<void>((goOn) => this.#held.push(goOn));
    return work();
  }
}

describe.each(["refuses", "does not answer"] as const)("a feed that %s", (how) => {
  test.each([["a write", ["write"]], ["any call", ["write", "claims", "read"]]] as const)("%s, holds no view up, and has all of it afterwards", async (_what, calls) => {
    const place = fedPlace();
    const away = new Away(calls, how);
    const engine = await place.join({ feed: (own) => away.over(own) });
    const projector = await started(engine, { lookMs, feedPatienceMs });
    await walk(engine, { seed: 61, steps: 60 });
    await projector.caughtUp();
    await untilSame(place);
    away.isAway = true;
    for (let piece = 0; piece < 5; piece++) {
      await walk(engine, { seed: 610 + piece, steps: 20 });
      await projector.caughtUp();
      await expectEqual(engine);
    }
    expect(projector.ready()).toBe(true);
    expect(engine.supervision.faulty()).toEqual(["projector.feed"]);
    const left = place.feed.records().length;
    away.comeBack();
    await untilSame(place);
    expect(place.feed.records().length).toBeGreaterThan(left);
    await until(() => engine.supervision.faulty().length === 0, { what: "readiness", timeoutMs: 60_000 });
    await walk(engine, { seed: 62, steps: 40 });
    await projector.caughtUp();
    await untilSame(place);
  });

  test("from the start on, is filled once it can be reached", async () => {
    const place = fedPlace();
    const away = new Away(["write", "claims", "read"], how);
    away.isAway = true;
    const engine = await place.join({ feed: (own) => away.over(own) });
    await walk(engine, { seed: 63, steps: 80 });
    const projector = await started(engine, { lookMs, feedPatienceMs });
    await projector.caughtUp();
    await expectEqual(engine);
    expect(place.feed.records()).toEqual([]);
    expect(engine.supervision.faulty()).toEqual(["projector.feed"]);
    away.comeBack();
    await untilSame(place);
    await until(() => engine.supervision.faulty().length === 0, { what: "readiness", timeoutMs: 60_000 });
  });

  test("while its projector dies, is filled by the next one from the feed's own claims", async () => {
    const place = fedPlace();
    const away = new Away(["write"], how);
    const engine = await place.join({ feed: (own) => away.over(own) });
    const projector = await started(engine, { lookMs, feedPatienceMs });
    await walk(engine, { seed: 64, steps: 60 });
    await projector.caughtUp();
    await untilSame(place);
    away.isAway = true;
    await walk(engine, { seed: 65, steps: 60 });
    await projector.caughtUp();
    await projector.stop();
    await started(await place.join(), { lookMs });
    await untilSame(place);
    away.comeBack();
    await untilSame(place);
  });
});

test("a feed that comes back empty is not believed to have what was sent before: all of it is sent again", async () => {
  const place = fedPlace();
  const away = new Away(["write", "claims", "read"], "refuses");
  const anew = createMemoryStatusFeed({ partitions: 4 });
  let isAnew = false;
  const engine = await place.join({ feed: (own) => {
    const now = (): StatusFeed => (isAnew ? anew.handle(place.ledgerId) : own);
    return away.over({ write: (step) => now().write(step), claims: () => now().claims(), read: (from, visit) => now().read(from, visit), close: () => own.close() });
  } });
  const projector = await started(engine, { lookMs, feedPatienceMs });
  await walk(engine, { seed: 68, steps: 60 });
  await projector.caughtUp();
  await untilSame(place);
  away.isAway = true;
  await until(() => engine.supervision.faulty().includes("projector.feed"), { what: "the feed to be missed" });
  isAnew = true;
  away.comeBack();
  await until(async () => JSON.stringify(sorted(new Map(anew.latest()))) === JSON.stringify(sorted(await documents(place.views))), { what: "the new feed to be what the views are", timeoutMs: 60_000 });
  await until(() => engine.supervision.faulty().length === 0, { what: "readiness", timeoutMs: 60_000 });
});

test("a look that is never answered holds no step up: views and feed go on", async () => {
  const place = fedPlace();
  const away = new Away(["read"], "does not answer");
  let looks = 0;
  const engine = await place.join({ feed: (own) => {
    const under = away.over(own);
    return { ...under, read: (from, visit) => {
      looks++;
      return under.read(from, visit);
    } };
  } });
  const projector = await started(engine, { lookMs, feedPatienceMs: 60_000 });
  await walk(engine, { seed: 66, steps: 40 });
  await projector.caughtUp();
  await untilSame(place);
  away.isAway = true;
  const before = looks;
  await until(() => looks > before, { what: "the look that hangs" });
  await walk(engine, { seed: 67, steps: 60 });
  await projector.caughtUp();
  await expectEqual(engine);
  expect(sorted(new Map(place.feed.latest()))).toEqual(sorted(await documents(place.views)));
  expect(engine.supervision.faulty()).toEqual([]);
  away.comeBack();
});
