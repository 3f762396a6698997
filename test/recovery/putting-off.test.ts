/** Targets that ask for time, and targets that do not answer: what is tried again, when, under which key, and when it stops. */
import type { FnMakerTask } from "@loopledger/handlers/index";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { type Draft, appendAct } from "@loopledger/shared/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, brokenBy, foldSession, voidsOf } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { type Given, type World, reconcile, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const id = "s" as SessionId;
/** Does not answer at all. */
const lost = new Error("the connection broke");
const busy = (retryAfterSeconds?: number) => Object.assign(new Error("429 too many requests"), { didNotHappen: true, transient: true, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
interface Call { readonly tool: string; readonly key: string; readonly at: number }

let world: World;
let peer: Peer;
let calls: Call[];
let answers: unknown[];
let runs: number;
let told: unknown[];
beforeEach(() => {
  world = memoryWorld();
  calls = [];
  answers = [];
  runs = 0;
  told = [];
});
afterEach(() => world.close());

type Work = (task: FnMakerTask) => Promise<unknown>;
const one: Work = async (task) => ({ summary: JSON.stringify(await task.tool("idempotent", { part: 1 })) });

/** A process whose tools answer what is next in `answers`, and then well. */
async function joined(work: Work): Promise<Peer> {
  let clock = (): number => 0;
  const tool = (name: string) => (_args: unknown, { key }: { readonly key: string }): unknown => {
    calls.push({ tool: name, key, at: clock() });
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return { done: name };
  };
  const made = await world.join({
    handlers: {
      makers: {
        maker: {
          fn: async (task: FnMakerTask) => {
            runs++;
            return work(task).catch((error: { code?: string }) => {
              told.push(error.code);
              throw error;
            });
          },
        },
      },
      checks: { check: { fn: () => ({ verdict: "PASS", evidence: {}, next_steps: [] }) } },
      tools: Object.fromEntries((["idempotent", "unsafe", "none"] as const).map((contract) => [contract, { contract, fn: tool(contract) }])),
    } as never,
  });
  clock = () => made.engine.clock.now();
  return made;
}
async function begin(work: Work, given: Given = {}): Promise<void> {
  peer = await joined(work);
  peer.work();
  await submit(peer, id, { policy: { failureFirst: false }, ...given } as never);
}
const status = async () => statusOf(await stateOf(world, id));
const accepted = async () => acceptedOf(foldSession(await world.entries(), id));
const retries = async () => (await accepted()).filter(({ type }) => type === "retry").map(({ data }) => data);
const waited = (): number[] => calls.slice(1).map(({ at }, index) => (at - (calls[index]?.at ?? 0)) / 1000);
async function sound(): Promise<void> {
  const folded = foldSession(await world.entries(), id);
  expect([...brokenBy(folded)]).toEqual([]);
  expect(voidsOf(folded)).toEqual([]);
}

describe("a target that proves that nothing happened and may be asked again", () => {
  test.each(["idempotent", "unsafe"])("%s: the same call is made again under its key after the time that it asked for, while the maker lives", async (tool) => {
    answers = [busy(7), busy(7)];
    await begin(async (task) => ({ summary: JSON.stringify(await task.tool(tool, { part: 1 })) }));
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "confirmed" }] });
    expect(runs).toBe(1);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    expect(waited()).toHaveLength(2);
    for (const seconds of waited()) expect(seconds).toBeGreaterThanOrEqual(7);
    const data = { type: "tool", operation: tool, delay_seconds: 7, error: expect.stringContaining("429"), errorClass: "transient" };
    expect(await retries()).toEqual([{ ...data, attempt: 1 }, { ...data, attempt: 2 }]);
    await sound();
  });
  test("without a word of when, the policy's backoff grows, with jitter", async () => {
    answers = [busy(), busy(), busy()];
    await begin(one);
    await untilOver(world, id);
    const delays = (await retries()).map((data) => (data as { delay_seconds: number }).delay_seconds);
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(2 ** index / 2);
      expect(delay).toBeLessThanOrEqual(2 ** index);
    }
    expect(delays).toHaveLength(3);
  });
  test("after the policy's attempts the maker is told, and nothing is tried any more", async () => {
    answers = Array.from({ length: 20 }, () => busy());
    await begin(async (task) => ({ summary: (await task.tool("idempotent", {})).outcome }), { policy: { failureFirst: false, retry: { maxAttempts: 2 } } } as never);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "failed" }] });
    expect(calls).toHaveLength(3);
    expect(await retries()).toHaveLength(2);
    await sound();
  });
  test("for long the maker is told to leave; it runs again when the time is over, and not before", async () => {
    answers = [busy(90)];
    await begin(one);
    await world.until(async () => (await status()).reason === "retry", "the wait");
    expect(told).toEqual(["retry_pending"]);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, budget: { iterations: { spent: 1 } } });
    expect(runs).toBe(2);
    expect(calls).toHaveLength(2);
    expect(waited()[0]).toBeGreaterThanOrEqual(90);
    await sound();
  });
  test("where the process dies while it waits, who takes over waits as long", async () => {
    answers = [busy(30)];
    await begin(one);
    await world.until(async () => (await retries()).length > 0, "the retry");
    peer.process.kill();
    peer = await joined(one);
    peer.work();
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done" });
    expect(calls).toHaveLength(2);
    expect(waited()[0]).toBeGreaterThanOrEqual(30);
    await sound();
  });
  test("other calls of the run wait with it, and none is refused", async () => {
    answers = [busy(5)];
    await begin(async (task) => {
      const [first, second] = await Promise.all([task.tool("idempotent", { part: 1 }), task.tool("unsafe", { part: 2 })]);
      await task.observe({ scope: "s", query: "q", observedAt: new Date(0).toISOString(), outcome: "observed", items: [] });
      return { summary: JSON.stringify([first, second]) };
    });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }, { state: "confirmed" }] });
    expect(runs).toBe(1);
    await sound();
  });
  test("calls that are put off at once share a wait: one record of it, none void, and each is made again once", async () => {
    answers = Array.from({ length: 100 }, () => busy(7));
    await begin(async (task) => ({ summary: JSON.stringify((await Promise.all(Array.from({ length: 100 }, () => task.tool("idempotent", { part: 1 })))).length) }));
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: Array.from({ length: 100 }, () => ({ state: "confirmed" })) });
    expect(runs).toBe(1);
    expect(await retries()).toMatchObject([{ attempt: 1, delay_seconds: 7 }]);
    expect(calls).toHaveLength(200);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(100);
    const [first, last] = [calls[0]?.at ?? 0, Math.min(...calls.slice(100).map(({ at }) => at))];
    expect(last - first).toBeGreaterThanOrEqual(7_000);
    await sound();
  });
  test("of calls that are put off at once the one whose target asks for longer waits for longer, under a record of its own", async () => {
    answers = [busy(3), busy(20), busy(3)];
    await begin(async (task) => ({ summary: JSON.stringify(await Promise.all([1, 2, 3].map((part) => task.tool("idempotent", { part })))) }));
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done" });
    const made = Map.groupBy(calls, ({ key }) => key);
    const waits = [...made.values()].map((list) => ((list[1]?.at ?? 0) - (list[0]?.at ?? 0)) / 1000);
    expect(waits).toHaveLength(3);
    for (const [index, least] of [3, 20, 3].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least);
    expect(await retries()).toHaveLength(2);
    await sound();
  });
  test("calls that are put off at once for long are all told to leave, and no record is void", async () => {
    answers = [busy(90), busy(90), busy(90)];
    await begin(async (task) => ({ summary: JSON.stringify(await Promise.all([1, 2, 3].map((part) => task.tool("idempotent", { part })))) }));
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
    expect(runs).toBe(2);
    expect(await retries()).toHaveLength(1);
    expect(calls).toHaveLength(6);
    await sound();
  });
  test.each([["more than any calendar holds", 1e300], ["for ever", Number.POSITIVE_INFINITY], ["for a century", 3.2e9]])("that asks for %s is waited for as long as the bound allows, and status can be told", async (_what, seconds) => {
    answers = [busy(seconds)];
    await begin(one);
    await world.until(async () => (await status()).reason === "retry", "the wait");
    expect(await retries()).toMatchObject([{ attempt: 1, delay_seconds: 10_000_000 }]);
    const [waiting] = (await status()).waitingOn;
    expect(Date.parse(waiting?.expires ?? "") - Date.parse((await status()).at ?? "")).toBeLessThanOrEqual(10_000_000_000);
    await sound();
  });
  test("a call of a maker that has left meanwhile is not made after it", async () => {
    answers = [busy(5)];
    await begin(async (task) => {
      task.tool("idempotent", { part: 1 }).catch(() => undefined);
      await world.until(async () => (await retries()).length > 0, "the retry");
      return { summary: "did not wait for its call" };
    });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "failed" }] });
    expect(calls).toHaveLength(1);
  });
  test("an orderly stop does not wait for it", async () => {
    answers = [busy(50)];
    await begin(one);
    await world.until(async () => (await retries()).length > 0, "the retry");
    const before = peer.engine.clock.now();
    await world.drive(peer.leave());
    expect(peer.engine.clock.now() - before).toBeLessThan(10_000);
    peer = await joined(one);
    peer.work();
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
    await sound();
  });
});

describe("a target that does not answer", () => {
  test("and only reads is asked again, and each try stands on the ledger", async () => {
    answers = [lost, lost];
    await begin(async (task) => ({ summary: JSON.stringify(await task.tool("none", {})) }));
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done" });
    expect(calls).toHaveLength(3);
    expect(await retries()).toHaveLength(2);
    await sound();
  });
  test("and keeps results by key is asked five times under it; then a person settles what became of it, and the session goes on", async () => {
    answers = [lost, lost, lost, lost, lost];
    await begin(one);
    await world.until(async () => (await status()).disposition === "failed", "the end of the tries");
    expect(await status()).toMatchObject({ reason: "incomplete_tool_turn", effects: [{ state: "unknown" }], waitingOn: [{ kind: "reconciliation" }] });
    expect(calls).toHaveLength(5);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    expect(await reconcile(peer, id, "happened")).toMatchObject({ kind: "accepted" });
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }] });
    expect(calls).toHaveLength(5);
    await sound();
  });
  test("and then asks for time: that says nothing of the call before, which stays open until it is answered", async () => {
    answers = [lost, busy(9)];
    await begin(one);
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }] });
    expect((await accepted()).filter(({ type }) => type === "tool_result")).toHaveLength(1);
    expect(waited()[1]).toBeGreaterThanOrEqual(9);
    // Each try is under a claim of its own, and the maker lives through all of them.
    expect((await accepted()).filter(({ type }) => type === "claimed").length).toBeGreaterThan(2);
    expect(runs).toBe(1);
    await sound();
  });
});

test("an answer that was lost, and then a target that asks for days: the session does not sit it out, a person settles it", async () => {
  answers = [lost, busy(9_999_999)];
  await begin(one);
  await world.until(async () => (await status()).disposition === "failed", "the end of the tries");
  expect(await status()).toMatchObject({ reason: "incomplete_tool_turn", effects: [{ state: "unknown" }] });
  expect(calls.every(({ at }) => at < 600_000 + (calls[0]?.at ?? 0))).toBe(true);
  expect(calls).toHaveLength(2);
  await sound();
});

test("a pause at once ends the waiting, and after the resumption the same call is made when its time is over", async () => {
  const act = (type: "pause_requested" | "resumed", data: object) => appendAct(peer.engine, id, { type, data, actor: { kind: "human", id: "olga" } } as unknown as Draft);
  answers = [busy(40)];
  await begin(one);
  await world.until(async () => (await retries()).length > 0, "the retry");
  expect(await act("pause_requested", { now: true, reason: "" })).toMatchObject({ kind: "accepted" });
  await world.until(async () => (await status()).owner === null, "the owner to let go");
  expect(await status()).toMatchObject({ disposition: "waiting", reason: "paused" });
  expect(await act("resumed", { reason: "", acceptCheck: false })).toMatchObject({ kind: "accepted" });
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
  expect(calls).toHaveLength(2);
  expect(waited()[0]).toBeGreaterThanOrEqual(40);
  await sound();
});
