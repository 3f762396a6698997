/** One maker that makes calls at the same time: equal ones are as many calls as it made, under one key they are one, and different ones never share one. */
import type { FnMakerTask } from "@loopledger/handlers/index";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { Json } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, countOf, voidsOf } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { Scene } from "../support/worlds/scene.ts";
import type { Door, Target } from "../support/worlds/target.ts";
import { type World, decideOn, stateOf, submit, untilOver } from "../support/worlds/world.ts";

let scene: Scene;
let target: Target;
let world: World;
const id = "s" as SessionId;
const same = { part: 1 };
beforeEach(() => {
  scene = new Scene(memoryWorld());
  ({ target, world } = scene);
});
afterEach(() => scene.close());

interface Asked { readonly args: Json; readonly key?: string }
const settled: (readonly unknown[])[] = [];
/** All of them at once; then it fails in passing the first few times, so that it runs again. */
function making(door: Door, calls: readonly Asked[], failures = 0) {
  let runs = 0;
  settled.length = 0;
  return async (task: FnMakerTask): Promise<unknown> => {
    const answers = await Promise.allSettled(calls.map(({ args, key }) => task.tool(door, args, key === undefined ? {} : { key })));
    settled.push(answers.map((one) => (one.status === "fulfilled" ? one.value.result : (one.reason as { code: string }).code)));
    if (runs++ < failures) throw Object.assign(new Error("not yet"), { transient: true });
    return { summary: "all made" };
  };
}
async function carried(maker: (task: FnMakerTask) => unknown, policy: Goal["policy"] = {}): Promise<Peer> {
  const peer = await scene.works({ maker, windowSeconds: 4 });
  await submit(peer, id, { policy });
  return peer;
}
async function sound(): Promise<void> {
  expect(await scene.broken(id)).toEqual([]);
  expect(voidsOf(await scene.folded(id))).toEqual([]);
}
const intents = async () => acceptedOf(await scene.folded(id)).flatMap((record) => (record.type === "tool_requested" ? [record.data] : []));

test.each(["idempotent", "fenced", "windowed", "unsafe"] as const)("%s: three equal calls are three, told apart by their ordinals, and a maker that is run again makes none of them anew", async (door) => {
  await carried(making(door, [{ args: same }, { args: same }, { args: same }], 2));
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
  expect((await intents()).map(({ ordinal }) => ordinal).toSorted()).toEqual([0, 1, 2]);
  expect(target.count(id, "call")).toBe(3);
  expect(target.count(id)).toBe(3);
  const [first = [], ...again] = settled;
  expect(new Set(first.map((result) => JSON.stringify(result))).size).toBe(3);
  for (const answers of again) expect(new Set(answers)).toEqual(new Set(first));
  await sound();
});

test("under one key they are one call, and each gets its answer", async () => {
  await carried(making("unsafe", [{ args: same, key: "k" }, { args: same, key: "k" }, { args: same, key: "k" }], 1));
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
  expect(target.count(id, "call")).toBe(1);
  for (const answers of settled) expect(new Set(answers.map((result) => JSON.stringify(result))).size).toBe(1);
  await sound();
});

test("under one key with other arguments the later one is refused, and gets nothing of the first", async () => {
  await carried(making("unsafe", [{ args: same, key: "k" }, { args: { part: 2 }, key: "k" }]));
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
  expect(settled).toEqual([[{ did: same, number: 1 }, "key_conflict"]]);
  expect(target.count(id, "call")).toBe(1);
  await sound();
});

test("under one key a person is asked once", async () => {
  const peer = await carried(making("idempotent", [{ args: same, key: "k" }, { args: same, key: "k" }]), { approvals: [{ before: "idempotent" }] });
  await world.until(async () => (await stateOf(world, id)).pending.length > 0, "the question");
  expect(await decideOn(peer, id, "APPROVE")).toMatchObject({ kind: "accepted" });
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
  expect(countOf(await scene.folded(id), "approval_requested")).toBe(1);
  expect(target.count(id, "call")).toBe(1);
  await sound();
});
