/** The statuses that other systems follow: never older for good than the views, whatever becomes of those who write them. */
import { describe, expect, test, vi } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { type Engine, parseFailpoints } from "@loopledger/shared/runtime";
import { createSystemClock } from "@loopledger/shared/system";
import { rebuild } from "../../services/projector/src/comparison.ts";
import type { Projector } from "../../services/projector/src/projector.ts";
import { Publication } from "../../services/projector/src/publication.ts";
import { until } from "../support/until.ts";
import { type FedPlace, fedPlace } from "./feeds.ts";
import { changedViews, documents, freshFold, sessions, sorted, started, walk } from "./views.ts";

vi.setConfig({ testTimeout: 120_000 });
const lookMs = 10;

const latest = ({ feed }: FedPlace): Map<string, string> => new Map(feed.latest());
async function sameAs(place: FedPlace, projection = "main"): Promise<boolean> {
  return JSON.stringify(sorted(latest(place))) === JSON.stringify(sorted(await documents(place.views, projection)));
}
const untilSame = (place: FedPlace, projection?: string): Promise<unknown> => until(() => sameAs(place, projection), { what: "the feed to be what the views are" });
const settled = (place: FedPlace, ...projectors: Projector[]): Promise<unknown> => Promise.all(projectors.map((projector) => projector.caughtUp())).then(() => untilSame(place));

/** Walks in pieces, so that the projector takes many steps. */
async function walkInSteps(engine: Engine, projector: Projector, { seed, pieces = 15 }: { readonly seed: number; readonly pieces?: number }): Promise<void> {
  for (let piece = 0; piece < pieces; piece++) {
    await walk(engine, { seed: seed * 1_000 + piece, steps: 10 });
    await projector.caughtUp();
  }
}

describe("the feed", () => {
  test("has the views' documents, in one write a step, before the views have them", async () => {
    const place = fedPlace();
    const calls: string[] = [];
    const views = changedViews(place.views, async (call, { views: written }) => {
      if (written.length > 0) calls.push("views");
      for (const { sessionId, document } of written) expect(latest(place).get(sessionId)).toBe(document);
      return call();
    });
    const engine = await place.join({ views, feed: (own) => ({ ...own, write: (step) => {
      calls.push("feed");
      return own.write(step);
    } }) });
    const projector = await started(engine, { lookMs });
    await walkInSteps(engine, projector, { seed: 71 });
    expect(sorted(latest(place))).toEqual(sorted(await documents(place.views)));
    expect(calls.length).toBeGreaterThan(10);
    expect(calls).toEqual(Array.from({ length: calls.length / 2 }, () => ["feed", "views"]).flat());
  });

  test.each(["projector.before_write", "projector.after_write"])("a crash at %s leaves nothing out of it", async (point) => {
    const place = fedPlace();
    const { failpoints } = parseFailpoints(`${point}=throw@3`, createSystemClock());
    const engine = await place.join({ failpoints });
    const projector = await started(engine, { lookMs });
    await walkInSteps(engine, projector, { seed: 72 });
    await settled(place, projector);
    expect(latest(place).size).toBe(sessions.length);
  });

  test("two projectors at once leave it as one does", async () => {
    const place = fedPlace();
    const engines = [await place.join(), await place.join()];
    const projectors = await Promise.all(engines.map((engine) => started(engine, { lookMs })));
    await walkInSteps(engines[0] as Engine, projectors[1] as Projector, { seed: 73, pieces: 30 });
    await settled(place, ...projectors);
  });

  test("an older status that a paused projector puts last, and dies, is written over by the one that lives", async () => {
    const place = fedPlace();
    const held: (() => void)[] = [];
    let [holds, isDead] = [false, false];
    const alive = <T>(call: () => Promise<T>): Promise<T> => (isDead ? Promise.reject(new Error("This process is dead.")) : call());
    const sleeper = await place.join({ feed: (own) => ({
      claims: () => alive(own.claims), read: (from, visit) => alive(() => own.read(from, visit)), close: own.close,
      write: async (step) => {
        if (!holds) return alive(() => own.write(step));
        await new Promise<void>((wake) => held.push(wake));
        const left = await alive(() => own.write(step));
        isDead = true;
        return left;
      },
    }) });
    const engine = await place.join();
    const first = await started(sleeper, { lookMs });
    await walkInSteps(engine, first, { seed: 74, pieces: 3 });
    holds = true;
    await walk(engine, { seed: 75, steps: 60 });
    await until(() => held.length > 0, { what: "a projector to sleep before it writes" });
    const other = await started(engine, { lookMs });
    await walkInSteps(engine, other, { seed: 76, pieces: 5 });
    await settled(place, other);
    const before = place.feed.records().length;
    holds = false;
    for (const wake of held.splice(0)) wake();
    await until(() => isDead, { what: "the sleeper's write" });
    const stale = place.feed.records()[before];
    expect(stale?.document).not.toBe((await documents(place.views)).get(stale?.sessionId ?? ""));
    await untilSame(place);
  });

  test("an older status that was put last while nobody was there is found by the next who begins", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const first = await started(engine, { lookMs });
    await walkInSteps(engine, first, { seed: 77 });
    await settled(place, first);
    await first.stop();
    const sessionId = sessions[0] as SessionId;
    const [old] = place.feed.records().filter((record) => record.sessionId === sessionId);
    if (!old?.position) throw new Error("There is no earlier record.");
    place.feed.put({ sessionId, document: old.document, ledgerId: place.ledgerId, position: old.position });
    expect(await sameAs(place)).toBe(false);
    await started(await place.join(), { lookMs });
    await untilSame(place);
  });

  test("an older status behind one that the views do not have yet is judged when they have it", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const first = await started(engine, { lookMs });
    await walkInSteps(engine, first, { seed: 78, pieces: 4 });
    await settled(place, first);
    await first.stop();
    const sessionId = sessions[0] as SessionId;
    const partition = engine.ledger.partitionOf(sessionId);
    const old = { sessionId, document: (await documents(place.views)).get(sessionId) ?? "", ledgerId: place.ledgerId, position: { partition, offset: 1 as Offset } };
    const views = await place.views.cursors("main");
    await walk(engine, { seed: 79, steps: 80 });
    const now = (await freshFold(engine)).get(sessionId) ?? "";
    expect(now).not.toBe(old.document);
    // What a projector does that dies between the feed and the views, and what another one that was paused does then.
    const end = (await engine.ledger.end()).get(partition) as Offset;
    await engine.feed?.write({ partition, position: end, statuses: [{ sessionId, document: now }], claim: { looked: new Map() } });
    place.feed.put(old);
    const publication = new Publication(engine, { views: place.views, feed: place.feed.handle(place.ledgerId), projection: "main" });
    const count = place.feed.records().length;
    for (let look = 0; look < 4; look++) await publication.look();
    expect(place.feed.records().length).toBe(count);
    expect((await place.views.cursors("main"))).toEqual(views);
    const later = await started(await place.joinWithout());
    await later.caughtUp();
    expect(latest(place).get(sessionId)).toBe(old.document);
    for (let look = 0; look < 2; look++) await publication.look();
    expect(latest(place).get(sessionId)).toBe(now);
  });

  test("what somebody else writes under a session's key is written over, and keys that are no session stay", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const projector = await started(engine, { lookMs });
    await walk(engine, { seed: 80, steps: 100 });
    await settled(place, projector);
    place.feed.put({ sessionId: sessions[1] as SessionId, document: "rubbish" });
    place.feed.put({ sessionId: sessions[2] as SessionId, document: "{}", ledgerId: place.ledgerId, position: { partition: 0, offset: 1_000_000 as Offset } });
    place.feed.put({ sessionId: "no-session" as SessionId, document: "theirs" });
    await until(async () => {
      const [now, shown] = [latest(place), await documents(place.views)];
      return now.get("no-session") === "theirs" && sessions.every((id) => now.get(id) === shown.get(id));
    }, { what: "the sessions' own statuses" });
  });
});

describe("the projection in use", () => {
  test("alone is on the feed", async () => {
    const place = fedPlace();
    const engine = await place.join();
    await walk(engine, { seed: 81, steps: 100 });
    const projector = await started(engine, { lookMs, projection: "beside" });
    await projector.caughtUp();
    await rebuild(engine, "third");
    expect(place.feed.records()).toEqual([]);
  });

  test("fills what was never sent, once it is taken into use", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const main = await started(engine, { lookMs });
    await walk(engine, { seed: 82, steps: 60 });
    await settled(place, main);
    await main.stop();
    const other = await started(await place.join(), { lookMs, projection: "other" });
    await walk(engine, { seed: 83, steps: 100 });
    await other.caughtUp();
    expect(await sameAs(place, "other")).toBe(false);
    await place.views.use("other");
    await untilSame(place, "other");
  });

  test("is the one that a running projector goes over to", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const projector = await started(engine, { lookMs });
    await walk(engine, { seed: 87, steps: 60 });
    await settled(place, projector);
    await rebuild(await place.joinWithout(), "other");
    await place.views.use("other");
    await walk(engine, { seed: 88, steps: 60 });
    await until(async () => (await sameAs(place, "other")) && (await freshFold(engine)).get(sessions[0] as SessionId) === latest(place).get(sessions[0] as SessionId), { what: "the feed to follow the projection in use" });
  });

  test("fills what a release without a feed has folded, and goes on beside it", async () => {
    const place = fedPlace();
    const old = await place.joinWithout();
    const before = await started(old);
    await walk(old, { seed: 84, steps: 80 });
    await before.caughtUp();
    expect(latest(place).size).toBe(0);
    await started(await place.join(), { lookMs });
    await untilSame(place);
    await walk(old, { seed: 85, steps: 120 });
    await before.caughtUp();
    await untilSame(place);
  });

  test("sends again nothing that was sent, after a start and after its views were lost", async () => {
    const place = fedPlace();
    const engine = await place.join();
    const first = await started(engine, { lookMs });
    await walkInSteps(engine, first, { seed: 86 });
    await settled(place, first);
    await first.stop();
    const sent = place.feed.records();
    const second = await started(await place.join(), { lookMs });
    await second.caughtUp();
    await second.stop();
    await place.views.drop("main");
    const third = await started(await place.join(), { lookMs });
    await third.caughtUp();
    await untilSame(place);
    expect(place.feed.records()).toEqual(sent);
  });
});
