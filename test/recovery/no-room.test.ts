/** A blob store without room for a while: the run is tried again on a durable timer; no iteration and no failure is charged for it. */
import type { FnMakerTask } from "@loopledger/handlers/index";
import type { SessionId } from "@loopledger/shared/core/brand";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { Blobs } from "@loopledger/shared/ports";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, foldSession } from "../support/worlds/oracle.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const id = "s" as SessionId;
const large = { text: "evidence ".repeat(10_000) };
let world: World;
beforeEach(() => {
  world = memoryWorld();
});
afterEach(() => world.close());

/** Carries a session whose payloads find no room the first few times. */
async function carried(refusals: number, maker: (task: FnMakerTask) => Promise<unknown>) {
  let calls = 0;
  const tools = { fetch: { contract: "idempotent", fn: () => ({ ...large, call: ++calls }) } };
  const check = { fn: () => ({ verdict: "PASS", evidence: {}, next_steps: [] }) };
  const peer = await world.join({ handlers: { makers: { maker: { fn: maker } }, checks: { check }, tools } as never });
  const blobs = peer.engine.blobs as { put: Blobs["put"] };
  const put = blobs.put.bind(blobs);
  let refused = 0;
  blobs.put = async (...args) => {
    if (refused++ < refusals) throw new LoopledgerError("blobs_unreachable", "The blob store cannot be used: ENOSPC.");
    return put(...args);
  };
  peer.work();
  await submit(peer, id, { policy: { failureFirst: false, breaker: { same: 2 } } } as never);
  const status = statusOf(await untilOver(world, id));
  const types = acceptedOf(foldSession(await world.entries(), id)).map(({ type }) => type);
  return { status, types, calls };
}

test("in a step: each time it is a retry, and the session goes on under the same iteration", async () => {
  const { status, types } = await carried(3, async (task) => ({ summary: String(await task.step("plan", () => large)) }));
  expect(status).toMatchObject({ disposition: "done", iteration: 1, budget: { iterations: { spent: 1 } } });
  expect(types.filter((type) => type === "retry")).toHaveLength(3);
  expect(types).not.toContain("cycle_failed");
  expect((await stateOf(world, id)).failures.last).toBeNull();
});

test("for the answer of a call: the call is settled first, under its key, and nothing is recorded as failed", async () => {
  const { status, types, calls } = await carried(4, async (task) => ({ summary: JSON.stringify((await task.tool("fetch", {})).outcome) }));
  expect(status).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "confirmed" }] });
  expect(types).not.toContain("cycle_failed");
  expect(types.filter((type) => type === "tool_requested")).toHaveLength(1);
  expect(calls).toBe(5);
});
