import { expect, it } from "vitest";
import type { OwnerId, SessionId } from "../core/brand.ts";
import type { Owner } from "../core/session/state.ts";
import { createVirtualClock } from "../adapters/memory/index.ts";
import { Holders } from "./holders.ts";
import { Supervision } from "./supervision.ts";

const lookMs = 50;
const [one, two] = ["one", "two"] as [SessionId, SessionId];
const ownerOf = (id: string): Owner => ({ id: id as OwnerId }) as Owner;

function waiting() {
  const clock = createVirtualClock();
  const looked: string[] = [];
  const offered: SessionId[] = [];
  const gone = new Set<string>();
  const holders = new Holders({
    part: new Supervision({ clock, report: () => undefined }).part("offers.timers"), lookMs, offer: (sessionId) => offered.push(sessionId),
    liveness: { isSeen: async ({ id }) => {
      looked.push(id);
      return !gone.has(id);
    } },
  });
  return { clock, looked, offered, gone, holders };
}

it("a session is offered when its holder is not seen any more, and again as often as it waits for that one again", async () => {
  const { clock, offered, gone, holders } = waiting();
  holders.wait(one, ownerOf("w"));
  holders.wait(two, ownerOf("x"));
  await clock.advance(10 * lookMs);
  expect(offered).toEqual([]);
  gone.add("w");
  await clock.advance(lookMs);
  expect(offered).toEqual([one]);
  for (const times of [2, 3]) {
    holders.wait(one, ownerOf("w"));
    await clock.advance(lookMs);
    expect(offered).toEqual(Array.from({ length: times }, () => one));
  }
});

it("nothing is looked at for a session that does not wait any more, and one look does for all that wait for one holder", async () => {
  const { clock, looked, offered, gone, holders } = waiting();
  for (const id of [one, two]) holders.wait(id, ownerOf("w"));
  await clock.advance(4 * lookMs);
  expect(looked).toEqual(["w", "w", "w", "w"]);
  holders.forget(one);
  holders.wait(two, ownerOf("x"));
  await clock.advance(3 * lookMs);
  expect(looked.slice(4)).toEqual(["x", "x", "x"]);
  gone.add("w").add("x");
  holders.stop();
  await clock.advance(10 * lookMs);
  expect([looked.length, offered]).toEqual([7, []]);
});
