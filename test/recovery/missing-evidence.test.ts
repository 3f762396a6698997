/** A recorded result whose payload is gone from the blob store: it is never taken for empty, nothing is called in its place, and the session waits until it is back. */
import type { FnMakerTask, HandlersConfigInput } from "@loopledger/handlers/index";
import type { Digest, SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { MemoryBlobs } from "@loopledger/shared/memory";
import { type Draft, appendAct } from "@loopledger/shared/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const id = "s" as SessionId;
const large = { text: "evidence ".repeat(10_000) };
const green = { verdict: "PASS", evidence: {}, next_steps: [] };
const passing = Object.assign(new Error("not yet"), { transient: true });
let world: World;
let calls: number;
let peer: Peer;
let lost: { readonly digest: Digest; readonly content: Uint8Array } | null;
beforeEach(() => {
  world = memoryWorld();
  calls = 0;
  lost = null;
});
afterEach(() => world.close());

const status = async () => statusOf(await stateOf(world, id));
const called = () => {
  calls++;
  return large;
};
const blobs = (): MemoryBlobs => peer.engine.blobs as MemoryBlobs;

/** The store loses what the session has recorded last. */
async function lose(): Promise<void> {
  const { work } = await peer.engine.folds.open(id);
  const recorded = work["goal"]?.settled[0]?.result ?? work["goal"]?.steps["plan"]?.result;
  const { blob } = recorded as { readonly blob: Digest };
  const content = await blobs().get(id, blob);
  if (!content) throw new Error("nothing was stored");
  lost = { digest: blob, content };
  blobs().lose(id, blob);
}
async function work(handlers: Partial<HandlersConfigInput>): Promise<void> {
  const tools = { fetch: { contract: "idempotent", fn: called }, other: { contract: "idempotent", fn: called } };
  peer = await world.join({ handlers: { makers: { maker: { fn: () => ({ summary: "made" }) } }, checks: { check: { fn: () => green } }, tools, ...handlers } as never });
  peer.work();
  await submit(peer, id, { policy: { failureFirst: false } } as never);
}
async function untilMissing(named: string): Promise<void> {
  await world.until(async () => (await status()).disposition === "waiting" && (await status()).reason !== "retry", "the wait");
  expect(await status()).toMatchObject({ disposition: "waiting", reason: "evidence_missing", error: expect.stringContaining(named), owner: null, waitingOn: [{ kind: "evidence_missing" }] });
  expect((await status()).error).toContain(lost?.digest);
}
async function backAndResumed(): Promise<void> {
  if (lost) await blobs().put(id, lost.content);
  const resumed = await appendAct(peer.engine, id, { type: "resumed", data: { reason: "it is back", acceptCheck: false }, actor: { kind: "human", id: "olga" } } as unknown as Draft);
  expect(resumed).toMatchObject({ kind: "accepted" });
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1 });
}

test("of a tool: the call is not made again, nor any other after it, and once it is back the same call returns it", async () => {
  const seen: unknown[] = [];
  let runs = 0;
  await work({
    makers: {
      maker: {
        fn: async (task: FnMakerTask) => {
          runs++;
          const fetched = await task.tool("fetch", { page: 1 }).catch((error: { code: string }) => error.code);
          seen.push(fetched);
          if (runs === 1) {
            await lose();
            throw passing;
          }
          if (typeof fetched === "string") seen.push(await task.tool("other", {}).catch((error: { code: string }) => error.code));
          return { summary: "made of what was fetched" };
        },
      },
    },
  });
  await untilMissing("fetch:");
  expect(seen.slice(1)).toEqual(["evidence_missing", "evidence_missing"]);
  expect(calls).toBe(1);
  await backAndResumed();
  expect(seen.at(-1)).toEqual({ outcome: "confirmed", result: large });
  expect(calls).toBe(1);
});

test("of a step of a maker: it is not run again", async () => {
  let runs = 0;
  const seen: unknown[] = [];
  await work({
    makers: {
      maker: {
        fn: async (task: FnMakerTask) => {
          const plan = await task.step("plan", called);
          seen.push(plan);
          if (runs++ === 0) {
            await lose();
            throw passing;
          }
          return { summary: "planned" };
        },
      },
    },
  });
  await untilMissing("step plan");
  await backAndResumed();
  expect(seen).toEqual([large, large]);
  expect(calls).toBe(1);
});

test("of a step of a check: there is no verdict without it", async () => {
  let runs = 0;
  await work({
    checks: {
      check: {
        fn: async (task: FnMakerTask) => {
          expect(await task.step("plan", called)).toEqual(large);
          if (runs++ > 0) return green;
          await lose();
          throw new Error("not to be judged now");
        },
      },
    },
  });
  await untilMissing("step plan");
  await backAndResumed();
  expect(calls).toBe(1);
});
