/**
 * Each guard holds something back. One table: with the guard the story breaks no promise, and with it taken away the same
 * story is seen to break exactly the promise that the guard is for.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Guards } from "@loopledger/shared/core/fencing/guards";
import { appendAct } from "@loopledger/shared/runtime";
import { startProjector } from "@loopledger/projector/projector";
import { afterEach, describe, expect, test } from "vitest";
import { type Deploying, deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, brokenBy, brokenEffects, foldSession } from "../support/worlds/oracle.ts";
import { type Peer, type PeerSettings, evolveWith } from "../support/worlds/peer.ts";
import { Target } from "../support/worlds/target.ts";
import { type Joining, type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

interface Stage {
  readonly world: World;
  readonly target: Target;
  readonly guards: Partial<Guards>;
  /** A process that works under these guards. */
  peer(how?: Partial<Deploying>, joining?: Partial<Joining>): Promise<Peer>;
  /** What the ledger and the target's log are seen to break, by a reader with the same guards. */
  broken(id: string): Promise<readonly string[]>;
}
interface Story {
  readonly promise: string;
  /** What is seen to be broken with the guard taken away. */
  readonly breaks: RegExp;
  tell(stage: Stage): Promise<readonly string[]>;
}

/** An owner that has lost its session and has not heard of it yet: its own news wait, what it writes still arrives. */
async function deposed(stage: Stage, how: { readonly first: Partial<Deploying>; readonly second: Partial<Deploying> }): Promise<{ first: Peer; second: Peer }> {
  const first = await stage.peer(how.first);
  first.work();
  await submit(first, "s", { policy: { failureFirst: false } });
  await stage.world.until(async () => (await stateOf(stage.world, "s" as never)).epoch === 1, "the first claim");
  first.process.pause();
  const second = await stage.peer(how.second);
  second.work();
  await stage.world.until(async () => (await stateOf(stage.world, "s" as never)).epoch === 2, "the takeover");
  return { first, second };
}
function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const stories: { readonly [G in keyof Guards]: Story } = {
  fence: {
    promise: "what a deposed owner writes late is void",
    breaks: /^stale built of epoch 1 is accepted in epoch 2$/,
    async tell(stage) {
      const [late, own] = [gate(), gate()];
      const waiting = (on: Promise<void>): Partial<Deploying> => ({ maker: () => on.then(() => ({ summary: "built" })) });
      await deposed(stage, { first: waiting(late.opened), second: waiting(own.opened) });
      late.open();
      await stage.world.until(async () => (await rowsOf(stage)).some(({ record }) => record?.type === "built"), "the late build");
      return stage.broken("s");
    },
  },
  readBack: {
    promise: "no effect is made on an intent that the ledger refused",
    breaks: /was applied without an accepted intent/,
    async tell(stage) {
      const [secondCall, firstAnswer] = [gate(), gate()];
      const peer = await stage.peer({
        maker: async (task) => {
          const first = task.tool("idempotent", { part: 1 });
          await secondCall.opened;
          await task.tool("idempotent", { part: 2 }).catch(() => null);
          await first;
        },
      });
      stage.target.next("s", async (apply) => {
        await firstAnswer.opened;
        return apply();
      });
      peer.work();
      const id = await submit(peer, "s");
      await stage.world.until(() => stage.target.count("s", "call") === 1, "the first call");
      const person = await stage.peer({}, { roles: [] });
      peer.process.pause();
      await appendAct(person.engine, id, { type: "cancel_requested", data: { reason: "stop" }, actor: { kind: "human", id: "olga" } } as never);
      secondCall.open();
      await stage.world.until(async () => (await rowsOf(stage)).filter(({ record }) => record?.type === "tool_requested").length === 2, "the second intent");
      peer.process.resume();
      await stage.world.until(async () => (await stateOf(stage.world, id)).cancel !== null, "the cancellation");
      firstAnswer.open();
      await stage.world.until(async () => (await stateOf(stage.world, id)).end !== null, "the end");
      return stage.broken("s");
    },
  },
  dedupe: {
    promise: "what reaches the log twice counts once",
    breaks: /has two accepted dispatches|is accepted twice/,
    async tell(stage) {
      const peer = await stage.peer({ iterations: 2 }, { faults: { duplicate: 1, delayMs: [1, 3] } });
      peer.work();
      await stage.world.drive(submit(peer, "s"));
      await stage.world.until(async () => (await rowsOf(stage)).filter(({ record }) => record?.type === "dispatched").length >= 4, "dispatches");
      return stage.broken("s");
    },
  },
  cursorCompare: {
    promise: "a view never goes back",
    breaks: /^the cursor of the views went back$/,
    async tell(stage) {
      const held = gate();
      let isHeld = false;
      const peer = await stage.peer({ iterations: 2 }, { guards: {}, views: (views) => views });
      const old = await stage.peer({}, {
        roles: [],
        views: (views) => ({
          ...views, alive: (projection) => views.alive(projection),
          async write(projection, step) {
            if (!isHeld && step.views.length > 0) {
              isHeld = true;
              await held.opened;
            }
            return views.write(projection, step);
          },
        }),
      });
      const behind = await startProjector(old.engine, { batchMs: 10, once: true });
      const id = await submit(peer, "s");
      await stage.world.until(() => isHeld, "the old projector's write");
      peer.work();
      await untilOver(stage.world, id);
      const ahead = await startProjector(peer.engine, { batchMs: 10 });
      const views = peer.engine.views;
      const partition = peer.engine.ledger.partitionOf(id);
      const cursor = async (): Promise<number> => (await views?.cursors("main"))?.get(partition) ?? 0;
      await stage.world.until(async () => (await views?.get("main", id))?.includes('"done"'), "the new projector's view");
      await ahead.stop();
      const before = await cursor();
      const seen: number[] = [];
      held.open();
      await stage.world.until(async () => {
        seen.push(await cursor());
        return seen.length > 20;
      }, "what the old projector does");
      await behind.stop();
      return seen.some((at) => at < before) ? ["the cursor of the views went back"] : [];
    },
  },
  failureFirst: {
    promise: "work that nobody needs is not done",
    breaks: /^maker 1 began$/,
    async tell(stage) {
      const begun: string[] = [];
      const peer = await stage.peer({ iterations: 0, started: (what, iteration) => begun.push(`${what} ${iteration} began`) });
      peer.work();
      const id = await submit(peer, "s");
      await stage.world.until(() => peer.engine.folds.peek(id)?.end, "the end, as a reader with the same guards sees it");
      return begun.filter((what) => what.startsWith("maker"));
    },
  },
  receiptFreshness: {
    promise: "a receipt is for the revision that was checked",
    breaks: /^checked r1, receipt for r2$/,
    async tell(stage) {
      let revision = 1;
      let saw = "";
      const peer = await stage.peer({ checking: () => { saw = `r${revision}`; if (revision < 2) revision++; } }, {
        changed: (handlers) => ({ ...handlers, check: (name) => { const check = handlers.check(name); return check && { ...check, revision: async () => `r${revision}` }; } }),
      });
      peer.work();
      const { receipt } = await untilOver(stage.world, await submit(peer, "s", { policy: { failureFirst: false } }));
      return receipt?.revision === saw ? [] : [`checked ${saw}, receipt for ${receipt?.revision}`];
    },
  },
  batchAtomicity: {
    promise: "a verdict and its receipt reach the log together",
    breaks: /^PASS without its receipt$/,
    async tell(stage) {
      const peer = await stage.peer();
      const watcher = await stage.peer({}, { roles: [] });
      watcher.engine.folds.listen(({ record, verdict }) => {
        if (record?.type === "check" && record.data.verdict === "PASS" && verdict.kind === "accepted") peer.process.kill();
      });
      peer.work();
      await submit(peer, "s");
      await stage.world.until(() => peer.process.state === "killed", "the death after the verdict");
      const types = acceptedOf(foldSession(await stage.world.entries(), "s" as never)).map(({ type }) => type);
      return types.includes("receipt") ? [] : ["PASS without its receipt"];
    },
  },
};

async function rowsOf({ world }: Stage) {
  return foldSession(await world.entries(), "s" as never).rows;
}

describe("each guard", () => {
  const closing: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  function stage(guards: Partial<Guards>): Stage {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-guards-"));
    const target = new Target(folder);
    const world = memoryWorld(guards.batchAtomicity === false ? { batchAtomicity: false } : {});
    closing.push(world.close, () => target.close(), () => rmSync(folder, { recursive: true, force: true }));
    const settings: Pick<PeerSettings, "guards"> = { guards };
    return {
      world, target, guards,
      peer: (how = {}, joining = {}) => world.join({ handlers: deploying({ target, ...how }), ...settings, ...joining }),
      async broken(id) {
        const folded = foldSession(await world.entries(), id as never, evolveWith(guards));
        return [...brokenBy(folded), ...brokenEffects(folded, target.rows())];
      },
    };
  }

  test.each(Object.entries(stories))("%s is on: its promise holds", async (_guard, story) => {
    expect(await story.tell(stage({}))).toEqual([]);
  });
  test.each(Object.entries(stories))("%s is taken away: its promise is seen to be broken", async (guard, story) => {
    const broken = await story.tell(stage({ [guard]: false }));
    expect(broken.filter((what) => story.breaks.test(what)), `${story.promise}; seen: ${broken.join("; ") || "nothing"}`).not.toEqual([]);
  });
});
