/** A maker that makes the same call twice: two calls, also where it is killed, asked about or run again between them. */
import type { FnMakerTask } from "@loopledger/handlers/index";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { Json } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { appendAct } from "@loopledger/shared/runtime";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { Scene } from "../support/worlds/scene.ts";
import type { Target } from "../support/worlds/target.ts";
import { type World, decideOn, stateOf, submit, untilOver } from "../support/worlds/world.ts";

let scene: Scene;
let target: Target;
let world: World;
const id = "s" as SessionId;
const asked: Goal["policy"] = { approvals: [{ before: "idempotent" }] };
beforeEach(() => {
  scene = new Scene(memoryWorld());
  ({ target, world } = scene);
});
afterEach(() => scene.close());

const peerOf = (maker: (task: FnMakerTask) => unknown): Promise<Peer> => scene.works({ maker, windowSeconds: 4 });
const same = { part: 1 };
const twice = async (task: FnMakerTask): Promise<unknown> => ({ artifacts: [await task.tool("idempotent", same), await task.tool("idempotent", same)] });
const pending = async (): Promise<void> => {
  await world.until(async () => (await stateOf(world, id)).pending.length > 0, "the question");
};
async function modify(peer: Peer, action: Json) {
  const state = await peer.engine.folds.open(id);
  const checkpoint = state.pending[0] ?? "";
  const data = { checkpoint, decision: "MODIFY", digest: lookUp(state.checkpoints, checkpoint)?.digest, comment: "like this", action };
  return appendAct(peer.engine, id, { type: "approval_decided", data, actor: { kind: "human", id: "olga" } } as never);
}
async function sound(): Promise<void> {
  expect(await scene.broken(id)).toEqual([]);
}

describe("the same call twice in one cycle", () => {
  test("is made twice, also by a maker that is run again after the first of them", async () => {
    const peer = await peerOf(async (task) => {
      await task.tool("idempotent", same);
      peer.process.kill();
      return new Promise(() => undefined);
    });
    await submit(peer, id);
    await world.until(() => peer.process.state === "killed", "the death");
    await peerOf(twice);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }, { state: "confirmed" }] });
    expect(target.count(id)).toBe(2);
    expect(target.count(id, "call")).toBe(2);
    await sound();
  });

  test("is asked about twice where a person must let it through, and each approval makes one call", async () => {
    const peer = await peerOf(twice);
    await submit(peer, id, { policy: asked });
    for (const calls of [1, 2]) {
      await pending();
      expect(target.count(id, "call")).toBe(calls - 1);
      expect(await decideOn(peer, id, "APPROVE")).toMatchObject({ kind: "accepted" });
    }
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
    expect(target.count(id)).toBe(2);
    await sound();
  });

  test("under a key of its own is one call, and is asked about once", async () => {
    const keyed = async (task: FnMakerTask): Promise<unknown> => {
      await task.tool("idempotent", same, { key: "k" });
      await task.tool("idempotent", same, { key: "k" });
      return {};
    };
    const peer = await peerOf(keyed);
    await submit(peer, id, { policy: asked });
    await pending();
    expect(await decideOn(peer, id, "APPROVE")).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
    expect(target.count(id, "call")).toBe(1);
    await sound();
  });
});

describe("a call in whose place a person had another made", () => {
  test("returns what became of that one, and is not asked about again", async () => {
    const answers: unknown[] = [];
    const peer = await peerOf(async (task) => {
      answers.push(await task.tool("idempotent", same));
      return {};
    });
    await submit(peer, id, { policy: asked });
    await pending();
    expect(await modify(peer, { tool: "idempotent", args: { part: 2 } })).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "confirmed" }] });
    expect(target.rows().filter(({ kind }) => kind === "call")).toHaveLength(1);
    expect(answers).toMatchObject([{ outcome: "confirmed", result: { did: { part: 2 } } }]);
    await sound();
  });
});

describe("a call that was let through under a key that is taken", () => {
  async function askedAgain(): Promise<Peer> {
    const peer = await peerOf(async (task) => {
      await task.tool("idempotent", same, { key: "k" });
      peer.process.kill();
      return new Promise(() => undefined);
    });
    await submit(peer, id);
    await world.until(() => peer.process.state === "killed", "the death");
    const next = await peerOf(async (task) => {
      await task.tool("idempotent", { part: "one" }, { key: "k" });
      return {};
    });
    await pending();
    return next;
  }

  test("is made under another one, since a person asked for it", async () => {
    const next = await askedAgain();
    expect(await decideOn(next, id, "APPROVE")).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done" });
    expect(target.rows().filter(({ kind }) => kind === "application").map(({ key }) => key === "k")).toEqual([true, false]);
    await sound();
  });

  test("is not made again where a person puts in its place what is done already", async () => {
    const next = await askedAgain();
    expect(await modify(next, { tool: "idempotent", args: same, key: "k" })).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ key: "k", state: "confirmed" }] });
    expect(target.count(id, "call")).toBe(1);
    await sound();
  });
});

describe("a call that was lost on its way, of a tool that can be looked up", () => {
  const lostOnTheWay = () => ({ kind: "lost" }) as const;
  const calling = (door: "fenced" | "windowed") => async (task: FnMakerTask): Promise<unknown> => {
    await task.tool(door, same);
    return {};
  };
  test.each(["fenced", "windowed"] as const)("%s: the look finds nothing, and it is made again under its key", async (door) => {
    const peer = await peerOf(calling(door));
    target.next(id, lostOnTheWay, lostOnTheWay);
    await submit(peer, id);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "confirmed" }] });
    expect(target.count(id, "call")).toBe(3);
    expect(target.count(id)).toBe(1);
    expect(new Set(target.rows().map(({ key }) => key)).size).toBe(1);
    await sound();
  });
  test("that never arrives is told to the maker after a few tries", async () => {
    const told: unknown[] = [];
    const peer = await peerOf(async (task) => {
      told.push(await task.tool("fenced", same).catch((error: unknown) => error));
      return {};
    });
    target.next(id, lostOnTheWay, lostOnTheWay, lostOnTheWay);
    await submit(peer, id);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "failed" }] });
    expect(target.count(id, "call")).toBe(3);
    expect(told).toHaveLength(1);
    await sound();
  });
});
