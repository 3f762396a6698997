/** A call starts only before its deadline, which counts from before the append that allows it: a ledger that answers too late costs the call. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { Scene } from "../support/worlds/scene.ts";
import { type World, stateOf, submit } from "../support/worlds/world.ts";

let scene: Scene;
let world: World;
const id = "s" as SessionId;
beforeEach(() => {
  scene = new Scene(memoryWorld());
  ({ world } = scene);
});
afterEach(() => scene.close());

/** A call window of 4 s, of which the call itself may take 1 s: it starts within 2.6 s or not at all. */
const windowSeconds = 4;

test.each([
  { delayMs: 3_000, calls: 0, ends: { disposition: "failed", reason: "incomplete_tool_turn", effects: [{ state: "unknown" }] } },
  { delayMs: 1_000, calls: 1, ends: { disposition: "done", effects: [{ state: "confirmed" }] } },
])("where an append takes $delayMs ms to be read back, an unsafe call is made $calls times", async ({ delayMs, calls, ends }) => {
  const peer = await scene.works({ door: "unsafe", windowSeconds }, { faults: { delayMs: [delayMs, delayMs] } });
  await world.drive(submit(peer, id, { policy: { failureFirst: false } }));
  await world.until(async () => (await stateOf(world, id)).end !== null, "the end");
  expect(statusOf(await stateOf(world, id))).toMatchObject(ends);
  expect(scene.target.count(id, "call")).toBe(calls);
  expect(await scene.broken(id)).toEqual([]);
});
