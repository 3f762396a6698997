/** Situations that have hurt people: two open calls, a cancel in the middle of a step, a cancel of a dead owner's session, a used-up budget. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { type Draft, appendAct } from "@loopledger/shared/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, countOf, voidsOf } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { Scene } from "../support/worlds/scene.ts";
import type { Target } from "../support/worlds/target.ts";
import { type Given, type World, reconcile, stateOf, submit, untilOver } from "../support/worlds/world.ts";

let scene: Scene;
let target: Target;
let world: World;
const id = "s" as SessionId;
beforeEach(() => {
  scene = new Scene(memoryWorld());
  ({ target, world } = scene);
});
afterEach(() => scene.close());

async function begun(how: Partial<Deploying>, given: Given = {}): Promise<Peer> {
  const peer = await scene.works(how);
  await submit(peer, id, given);
  return peer;
}
async function person(type: "cancel_requested" | "budget_raised", data: Record<string, unknown>) {
  const peer = await world.join({ handlers: {}, roles: [] });
  return appendAct(peer.engine, id, { type, data, actor: { kind: "human", id: "olga" } } as unknown as Draft);
}
const status = async () => statusOf(await stateOf(world, id));
async function sound(): Promise<void> {
  expect(await scene.broken(id)).toEqual([]);
}
const never = new Promise<never>(() => undefined);

describe("two calls without an outcome", () => {
  test("the session stands still until both are settled, and names the one that is left", async () => {
    const both: Deploying["maker"] = async (task) => {
      await Promise.all([task.tool("unsafe", { part: 1 }), task.tool("unsafe", { part: 2 })]);
    };
    const peer = await begun({ maker: both });
    const lost = (apply: () => unknown): Promise<never> => {
      apply();
      if (target.count(id) === 2) peer.process.kill();
      return never;
    };
    target.next(id, lost, lost);
    await world.until(() => peer.process.state === "killed", "the death");
    const next = await scene.works({ maker: both });
    await world.until(async () => (await status()).disposition === "failed", "the end");
    expect(await status()).toMatchObject({ reason: "incomplete_tool_turn", waitingOn: [{ kind: "reconciliation" }, { kind: "reconciliation" }] });
    const [first, second] = (await stateOf(world, id)).unsettled;
    expect(await reconcile(next, id, "happened")).toMatchObject({ kind: "accepted" });
    expect(await status()).toMatchObject({ disposition: "failed", waitingOn: [{ kind: "reconciliation", id: second }], effects: [{ key: first, state: "confirmed" }, { state: "unknown" }] });
    expect(await reconcile(next, id, "happened")).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", receipt: { sessionId: id } });
    expect(target.count(id, "call")).toBe(2);
    await sound();
  });
});

describe("a cancel", () => {
  test("in the middle of a step counts at once: the step is told to stop, calls nothing any more, and what it says late does not count", async () => {
    const goOn = Promise.withResolvers<void>();
    let told = false;
    const peer = await begun({
      maker: async (task) => {
        task.signal.addEventListener("abort", () => (told = true));
        await goOn.promise;
        await task.tool("idempotent", { part: 1 });
        return { summary: "as if nothing had been said" };
      },
    });
    await world.until(async () => (await status()).active === "build", "the maker");
    expect(await person("cancel_requested", { reason: "not wanted any more" })).toMatchObject({ kind: "accepted" });
    expect(await status()).toMatchObject({ disposition: "cancelled", reason: "cancelled", active: null });
    await world.until(() => told, "the maker to be told");
    goOn.resolve();
    await world.until(() => peer.engine.folds.peek(id)?.end, "the end");
    expect(target.count(id, "call")).toBe(0);
    expect(await status()).toMatchObject({ disposition: "cancelled" });
    expect(countOf(await scene.folded(id), "dispatched")).toBe(2);
    await sound();
  });
  test("of a session whose owner is dead leaves nothing running, and says when", async () => {
    const peer = await begun({ maker: () => never });
    await world.until(async () => (await status()).active === "build", "the maker");
    peer.process.kill();
    expect(await person("cancel_requested", { reason: "it hangs" })).toMatchObject({ kind: "accepted" });
    const seen = await status();
    expect(seen).toMatchObject({ disposition: "cancelled", owner: null, active: null, waitingOn: [] });
    expect(seen.endedAt).toBe(seen.at);
    await sound();
  });
  test("over a call without an outcome waits until it is settled, and then counts before anything else", async () => {
    const peer = await begun({ door: "unsafe" });
    target.next(id, (apply) => {
      apply();
      peer.process.kill();
      return never;
    });
    await world.until(() => peer.process.state === "killed", "the death");
    expect(await person("cancel_requested", { reason: "stop" })).toMatchObject({ kind: "accepted" });
    expect(await status()).toMatchObject({ disposition: "running", endedAt: null });
    const next = await scene.works({ door: "unsafe" });
    await world.until(async () => (await status()).disposition === "failed", "the unknown outcome");
    expect(await reconcile(next, id, "happened")).toMatchObject({ kind: "accepted" });
    expect(await status()).toMatchObject({ disposition: "cancelled", effects: [{ state: "confirmed" }] });
    expect(target.count(id, "call")).toBe(1);
    await sound();
  });
});

describe("the last iteration that the budget allows", () => {
  test("is charged once over a takeover, and the session then waits for a raise", async () => {
    const given = { budget: { iterations: 1 } };
    const peer = await begun({ iterations: 2, maker: () => never }, given);
    await world.until(async () => (await status()).active === "build", "the maker");
    peer.process.kill();
    await scene.works({ iterations: 2 });
    await world.until(async () => (await status()).disposition === "waiting", "the used-up budget");
    expect(await status()).toMatchObject({ reason: "budget_exhausted", iteration: 1, takeovers: 1, budget: { iterations: { limit: 1, spent: 1, remaining: 0 } } });
    expect(await person("budget_raised", { iterations: 1 })).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", budget: { iterations: { spent: 2 } } });
    await sound();
  });
  test.each(["maker", "check"] as const)("a model call of a %s after the last of the money is refused, and made after a raise", async (who) => {
    const codes: string[] = [];
    const spends = async (task: { model(call: object): Promise<void> }) => {
      const call = { provider: "p", model: "m", usage: { costUsd: 1 } };
      await task.model(call);
      await task.model(call).catch((error: { code: string }) => {
        codes.push(error.code);
        throw error;
      });
    };
    await begun({ ...(who === "maker" ? { maker: spends as never } : { checking: spends as never }) }, { budget: { costUsd: 1 }, policy: { failureFirst: false } } as never);
    await world.until(async () => (await status()).disposition === "waiting", "the used-up budget");
    expect(await status()).toMatchObject({ reason: "budget_exhausted", budget: { costUsd: { spent: 1, remaining: 0 } } });
    expect(codes).toEqual(["budget_exhausted"]);
    expect(await person("budget_raised", { costUsd: 5 })).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", budget: { costUsd: { spent: 3 } } });
    await sound();
  });
  test("a reservation that does not fit is not asked for again and again: the session waits for a raise, then goes on", async () => {
    let runs = 0;
    await begun({
      maker: async (task) => {
        runs++;
        await task.reserve({ tokens: 500 });
        return { summary: "reserved" };
      },
    }, { budget: { tokens: 100 } });
    await world.until(async () => (await status()).disposition === "waiting", "the refused reservation");
    expect(await status()).toMatchObject({ reason: "budget_exhausted", error: expect.stringContaining("500 tokens"), owner: null });
    expect(runs).toBe(1);
    expect(await person("budget_raised", { tokens: 400 })).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done" });
    expect(runs).toBe(2);
    expect(voidsOf(await scene.folded(id))).toEqual([{ type: "reserved", reason: "suspended" }]);
    expect(acceptedOf(await scene.folded(id)).filter(({ type }) => type === "reserved")).toHaveLength(1);
    await sound();
  });
});
