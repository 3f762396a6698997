/** What one publication claims of the feed, and when it writes. */
import { describe, expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { ViewWrite } from "@loopledger/shared/ports";
import { Publication } from "../../services/projector/src/publication.ts";
import { fedPlace } from "./feeds.ts";
import { documents, sessions, started, walk } from "./views.ts";

describe("one publication", () => {
  /** A ledger whose views were folded by a projector without a feed, and a session of it. */
  async function folded() {
    const place = fedPlace();
    const engine = await place.join();
    await walk(engine, { seed: 91, steps: 80 });
    const projector = await started(await place.joinWithout());
    await projector.caughtUp();
    await projector.stop();
    const sessionId = sessions[0] as SessionId;
    const partition = engine.ledger.partitionOf(sessionId);
    const document = (await documents(place.views)).get(sessionId) ?? "";
    const cursor = (await place.views.cursors("main")).get(partition) as Offset;
    const feed = place.feed.handle(place.ledgerId);
    const view: ViewWrite = { sessionId, document, disposition: "running", at: 1, labels: {}, snapshot: null };
    return { place, engine, sessionId, partition, document, cursor, feed, view, publish: (views = place.views) => new Publication(engine, { views, feed, projection: "main" }) };
  }

  test("claims nothing by a step before which something was never sent", async () => {
    const { feed, publish, partition, cursor, view, place } = await folded();
    const publication = publish();
    await publication.step(partition, { from: cursor, to: (cursor + 1) as Offset, views: [view] });
    expect(place.feed.records().map(({ document }) => document)).toEqual([view.document]);
    expect((await feed.claims()).fed.get(partition)).toBeUndefined();
    await publication.look();
    expect((await feed.claims()).fed.get(partition)).toBe(cursor);
    await publication.step(partition, { from: cursor, to: (cursor + 1) as Offset, views: [view] });
    expect((await feed.claims()).fed.get(partition)).toBe(cursor + 1);
  });

  test("claims to have looked no further than what it has not judged", async () => {
    const { feed, publish, partition, cursor, view, place, engine, sessionId } = await folded();
    const publication = publish();
    await publication.look();
    await publication.look();
    await walk(engine, { seed: 92, steps: 60 });
    const end = (await engine.ledger.end()).get(partition) as Offset;
    expect(end).toBeGreaterThan(cursor + 1);
    place.feed.put({ sessionId, document: "ahead", ledgerId: place.ledgerId, position: { partition, offset: end } });
    const ahead = place.feed.records().at(-1);
    await publication.look();
    await publication.step(partition, { from: cursor, to: (cursor + 1) as Offset, views: [view] });
    expect(place.feed.records().at(-1)?.document).toBe(view.document);
    expect((await feed.claims()).looked.get(ahead?.partition ?? -1)).toBe(ahead?.offset);
  });

  test("writes nothing where the newer status has just been sent and was not read yet", async () => {
    const { publish, document, place, sessionId } = await folded();
    const before = publish();
    for (let look = 0; look < 3; look++) await before.look();
    const newer = document.replace(/"asOf":\d+/, '"asOf":1000');
    place.feed.put({ sessionId, document, ledgerId: place.ledgerId, position: { partition: 0, offset: 1 as Offset } });
    let sent = 0;
    const publication = publish({ ...place.views, alive: (name) => place.views.alive(name), get: async (name, id) => {
      if (id !== sessionId) return place.views.get(name, id);
      // A step comes between the look at the feed and the look at the views.
      if (sent === 0) {
        place.feed.put({ sessionId, document: newer, ledgerId: place.ledgerId, position: { partition: 0, offset: 1 as Offset } });
        sent = place.feed.records().length;
      }
      return newer;
    } });
    for (let look = 0; look < 4; look++) await publication.look();
    expect(sent).toBeGreaterThan(0);
    expect(place.feed.records().length).toBe(sent);
  });
});
