import { describe, expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { canonicalJson } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { createVirtualClock } from "@loopledger/shared/memory";
import { appendAct, submitGoal } from "@loopledger/shared/runtime";
import { goalOf } from "@loopledger/shared/testing";
import { carryToEnd, memoryPlace, person } from "../support/walks.ts";
import { asking, opened } from "./serving.ts";

interface Page { readonly items: { readonly sessionId: string; readonly disposition: string }[]; readonly next: string | null }
const ids = (page: Page): string[] => page.items.map((item) => item.sessionId);

async function allPages(get: (url: string) => Promise<{ json: unknown }>, query: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = ""; ; ) {
    const page = (await get(`/v1/sessions?${query}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`)).json as Page;
    found.push(...ids(page));
    expect(new Set(found).size, "a row came twice").toBe(found.length);
    if (page.next === null) return found;
    cursor = page.next;
  }
}

describe("lists of sessions", () => {
  test("show what was submitted a moment ago, newest first, by disposition and label, a page at a time", async () => {
    const clock = createVirtualClock();
    const { post, get, engine } = await asking({ place: opened(memoryPlace(clock)) });
    for (let i = 0; i < 7; i++) {
      await clock.advance(i % 2);
      await post("/v1/sessions", { id: `s-${i}`, goal: "x", maker: "agent", check: "tests", labels: { team: i % 2 === 0 ? "web" : "core" } });
    }
    for (const id of ["s-1", "s-4"]) await carryToEnd(engine, id as SessionId);
    await clock.advance(1);
    await appendAct(engine, "s-0" as SessionId, { type: "pause_requested", data: { now: false, reason: "" }, actor: person });
    const newest = ids((await get("/v1/sessions?limit=3")).json as Page);
    expect(newest[0]).toBe("s-0");
    expect(new Set(await allPages(get, "limit=2"))).toEqual(new Set(["s-0", "s-1", "s-2", "s-3", "s-4", "s-5", "s-6"]));
    expect((await allPages(get, "limit=2")).length).toBe(7);
    expect((await allPages(get, "disposition=done&limit=1")).sort()).toEqual(["s-1", "s-4"]);
    expect(await allPages(get, "disposition=waiting")).toEqual(["s-0"]);
    expect((await allPages(get, "label=team%3Dweb&limit=2")).sort()).toEqual(["s-0", "s-2", "s-4", "s-6"]);
    expect(await allPages(get, "label=team%3Dnone")).toEqual([]);
  });

  test("take from the views what is not in memory, and from memory what the views do not know yet", async () => {
    const place = opened(memoryPlace());
    const old = await place.join();
    for (const id of ["old-1", "old-2", "changed"]) await submitGoal(old, goalOf(), { actor: person, id: id as SessionId });
    await carryToEnd(old, "old-1" as SessionId);
    const views = place.views();
    for (const id of ["old-1", "old-2", "changed"] as SessionId[]) {
      const state = await old.folds.open(id);
      const { disposition, labels } = statusOf(state);
      const view = { sessionId: id, disposition, at: state.at as number, labels, document: canonicalJson(statusOf(state)), snapshot: null };
      const partition = old.ledger.partitionOf(id);
      const from = ((await views.cursors("main")).get(partition) ?? 0) as Offset;
      await views.write("main", { partition, from, to: (from + 1) as Offset, views: [view] });
    }
    const { get, post, engine } = await asking({ place });
    await carryToEnd(engine, "changed" as SessionId);
    await post("/v1/sessions", { id: "new", goal: "x", maker: "agent", check: "tests" });
    const pages = await allPages(get, "limit=1");
    expect([...pages].sort()).toEqual(["changed", "new", "old-1", "old-2"]);
    expect((await allPages(get, "disposition=done&limit=1")).sort()).toEqual(["changed", "old-1"]);
    expect((await allPages(get, "disposition=running")).sort()).toEqual(["new", "old-2"]);
  });

  test("a cursor that is none is refused", async () => {
    const { get } = await asking();
    expect(await get("/v1/sessions?cursor=nonsense")).toMatchObject({ status: 400, json: { code: "invalid_cursor" } });
  });
});
