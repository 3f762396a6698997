/** Makers that are effects themselves: on the ledger before they start, within their time, and never run again once nobody saw their end. */
import type { FnMakerTask } from "@loopledger/handlers/index";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { LedgerFaults } from "@loopledger/shared/memory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, brokenBy, foldSession } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { type World, reconcile, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const id = "s" as SessionId;
const timeoutSeconds = 30;
interface Run { readonly epoch: number; readonly secondsLeft: number | null; readonly intents: readonly string[] }

let world: World;
let runs: Run[];
beforeEach(() => {
  world = memoryWorld();
  runs = [];
});
afterEach(() => world.close());

async function works(work: (task: FnMakerTask) => Promise<unknown>, faults: LedgerFaults = {}): Promise<Peer> {
  const fn = async (): Promise<never> => {
    throw new Error("its run is in the changed handlers");
  };
  const peer = await world.join({
    faults,
    handlers: { makers: { maker: { fn, effects: "external", timeoutSeconds } }, checks: { check: { fn: () => ({ verdict: "PASS", evidence: {}, next_steps: [] }) } } } as never,
    changed: (handlers) => ({ ...handlers, maker: (name) => {
      const maker = handlers.maker(name);
      return maker && { ...maker, run: async (task) => {
        const accepted = acceptedOf(foldSession(await world.entries(), id));
        runs.push({ epoch: task.epoch, secondsLeft: task.wallSecondsLeft, intents: accepted.flatMap(({ type, data }) => (type === "tool_requested" ? [(data as { readonly tool: string }).tool] : [])) });
        const said = await work(task as never);
        return { kind: "built", result: { summary: String(said), revision: "r1", usage: {} } };
      } };
    } }),
  });
  peer.work();
  return peer;
}
const begun = { policy: { failureFirst: false } } as never;
const sound = async (): Promise<void> => expect([...brokenBy(foldSession(await world.entries(), id))]).toEqual([]);

test("its intent is accepted before it starts, and its time counts from before that was appended", async () => {
  const peer = await works(async () => "sent", { delayMs: [1_500, 1_500] });
  await world.drive(submit(peer, id, begun));
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", effects: [{ state: "confirmed" }] });
  expect(runs).toMatchObject([{ epoch: 1, intents: ["maker:maker"] }]);
  expect(runs[0]?.secondsLeft).toBeGreaterThan(0);
  expect(runs[0]?.secondsLeft).toBeLessThanOrEqual(timeoutSeconds - 1.5);
  await sound();
});

test("an end that nobody saw fails closed, and once a person has settled it as happened the build is over without another run", async () => {
  const peer = await works(async () => {
    peer.process.kill();
    return new Promise(() => undefined);
  });
  await submit(peer, id, begun);
  await world.until(() => peer.process.state === "killed", "the death");
  const next = await works(async () => "sent a second time");
  await world.until(async () => (await stateOf(world, id)).end !== null, "the end");
  expect(statusOf(await stateOf(world, id))).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn", effects: [{ state: "unknown" }], waitingOn: [{ kind: "reconciliation" }] });
  expect(await reconcile(next, id, "happened")).toMatchObject({ kind: "accepted" });
  expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 1, effects: [{ state: "confirmed" }] });
  expect(runs.map(({ epoch }) => epoch)).toEqual([1]);
  await sound();
});
