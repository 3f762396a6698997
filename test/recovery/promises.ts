/** What must never break when a process dies: the four recovery promises, as suites that each adapter runs, inside one process and with real ones. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { statusOf } from "@loopledger/shared/core/session/status";
import type { Ledger, LogEntry, Positions } from "@loopledger/shared/ports";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { Project } from "../support/worlds/command.ts";
import type { Deploying } from "../support/worlds/deploying.ts";
import type { Grounds } from "../support/worlds/grounds.ts";
import { acceptedOf, countOf, foldSession } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { type LoopProcess, ProcessWorld } from "../support/worlds/processes.ts";
import { Scene } from "../support/worlds/scene.ts";
import type { Mishap, Target } from "../support/worlds/target.ts";
import { type World, reconcile, stateOf, submit, untilOver } from "../support/worlds/world.ts";

const unknown = { disposition: "failed", reason: "incomplete_tool_turn", error: "external outcome unknown; reconciliation required" };
const never = new Promise<never>(() => undefined);
const patience = { testTimeout: 120_000, hookTimeout: 120_000 };

/** Inside one process: each peer has handles of its own, and a gate at which it is paused and killed. */
export function promisesInside(adapter: string, make: () => World | Promise<World>): void {
  vi.setConfig(patience);
  describe(`on ${adapter}`, () => {
    let scene: Scene;
    let target: Target;
    let world: World;
    /** What was begun, by any process. */
    let begun: string[];
    beforeEach(async () => {
      scene = new Scene(await make());
      ({ target, world } = scene);
      begun = [];
    });
    afterEach(() => scene.close());
    const joins = (how: Partial<Deploying> = {}): Promise<Peer> => scene.joins({ started: (what, iteration) => begun.push(`${what} ${iteration}`), ...how });
    const dies = (peer: Peer, done: "before it is done" | "after it is done"): Mishap => (apply) => {
      if (done === "after it is done") apply();
      peer.process.kill();
      return never;
    };
    async function sound(id: string): Promise<void> {
      expect(await scene.broken(id)).toEqual([]);
    }

    test("store appends monotonically and resumes from cursor", async () => {
      const peer = await joins({ iterations: 3 });
      const reader = await joins();
      peer.work();
      await untilOver(world, await submit(peer, "first"));
      const before: LogEntry[] = [];
      await reader.engine.ledger.subscribe(fromStart(reader.engine.ledger), (entries) => void before.push(...entries)).then(async (one) => {
        await one.caughtUp();
        await one.close();
      });
      const cursor: Positions = new Map([...fromStart(reader.engine.ledger).keys()].map((partition) => [
        partition, Math.max(-1, ...before.filter((entry) => entry.partition === partition).map(({ offset }) => offset)) + 1 as never,
      ]));
      const after: LogEntry[] = [];
      const resumed = await reader.engine.ledger.subscribe(cursor, (entries) => void after.push(...entries));
      await untilOver(world, await submit(peer, "second"));
      await resumed.caughtUp();
      await resumed.close();
      const all = [...before, ...after];
      expect(placesOf(all).toSorted()).toEqual(placesOf(await world.entries()).toSorted());
      expect(new Set(placesOf(all)).size).toBe(all.length);
      for (const [partition] of cursor) {
        const offsets = all.filter((entry) => entry.partition === partition).map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      }
      const seqs = foldSession(all, "second" as never).rows.flatMap(({ verdict }) => (verdict.kind === "accepted" ? [verdict.seq] : []));
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      await sound("first");
      await sound("second");
    });

    test("resume does not repeat taken turns", async () => {
      const taken: string[] = [];
      const maker: Deploying["maker"] = async (task) => {
        for (const turn of [1, 2, 3]) {
          await task.step(`turn-${turn}`, () => taken.push(`${task.iteration}.${turn}`));
          await task.tool("idempotent", { version: task.iteration, turn });
        }
        return { summary: "three turns" };
      };
      const peer = await joins({ maker, iterations: 2 });
      const good: Mishap = (apply) => apply();
      target.next("s", good, good, good, good, dies(peer, "before it is done"));
      peer.work();
      const id = await submit(peer, "s");
      await world.until(() => peer.process.state === "killed", "the death");
      expect(taken).toEqual(["1.1", "1.2", "1.3", "2.1", "2.2"]);
      (await joins({ maker, iterations: 2 })).work();
      const state = await untilOver(world, id);
      expect(statusOf(state)).toMatchObject({ disposition: "done", iteration: 2, takeovers: 1, receipt: { sessionId: "s" } });
      expect(taken).toEqual(["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]);
      expect(begun).toEqual(["check 0", "maker 1", "check 1", "maker 2", "maker 2", "check 2"]);
      expect(target.count("s")).toBe(6);
      await sound("s");
    });

    test("resume with ambiguous tool outcome fails closed", async () => {
      const peer = await joins({ door: "unsafe", windowSeconds: 1 });
      target.next("s", dies(peer, "after it is done"));
      peer.work();
      const id = await submit(peer, "s");
      await world.until(() => peer.process.state === "killed", "the death");
      const done = [...begun];
      const survivors = [await joins({ door: "unsafe" }), await joins({ door: "unsafe" })];
      for (const one of survivors) one.work();
      await world.until(async () => (await stateOf(world, id)).end !== null, "the end");
      expect(statusOf(await stateOf(world, id))).toMatchObject({ ...unknown, effects: [{ state: "unknown", contract: "unsafe" }] });
      for (const [index, one] of survivors.entries()) await untilOver(world, await submit(one, `other-${index}`));
      expect(begun.slice(0, done.length)).toEqual(done);
      expect(begun.slice(done.length).toSorted()).toEqual(["check 0", "maker 1", "check 1", "check 0", "maker 1", "check 1"].toSorted());
      expect(target.count("s", "call")).toBe(1);
      expect(statusOf(await stateOf(world, id))).toMatchObject(unknown);
      expect(await reconcile(survivors[0] as Peer, id, "happened")).toMatchObject({ kind: "accepted" });
      const state = await untilOver(world, id);
      expect(statusOf(state)).toMatchObject({ disposition: "done", reason: null, error: null, receipt: { sessionId: "s" }, effects: [{ state: "confirmed" }] });
      expect(target.count("s", "call")).toBe(1);
      expect(target.count("s")).toBe(1);
      await sound("s");
    });

    test("concurrent runner fails fast without duplicate work", async () => {
      const gate = Promise.withResolvers<void>();
      const peer = await joins();
      const second = await joins();
      target.next("s", async (apply) => {
        await gate.promise;
        return apply();
      });
      const id = await submit(peer, "s");
      const first = peer.carry(id);
      await world.until(() => target.count("s", "call") === 1, "the call");
      const held = await stateOf(world, id);
      await second.engine.folds.caughtUp();
      expect(await second.carry(id)).toEqual({ kind: "rest", on: "holder", until: null, seq: held.seq });
      expect((await stateOf(world, id)).seq).toBe(held.seq);
      expect(begun).toEqual(["check 0", "maker 1"]);
      gate.resolve();
      expect(await first).toMatchObject({ kind: "over" });
      await second.engine.folds.caughtUp();
      expect(await second.carry(id)).toMatchObject({ kind: "over" });
      expect(begun).toEqual(["check 0", "maker 1", "check 1"]);
      expect(target.count("s", "call")).toBe(1);
      expect(countOf(await scene.folded(id), "claimed")).toBe(1);
      await sound("s");
    });
  });
}

/** With processes that are killed. */
export function promisesWithProcesses(name: string, makeGrounds: () => Promise<Grounds>): void {
  vi.setConfig(patience);
  describe(`with processes on ${name} that are killed`, () => {
    let world: ProcessWorld;
    beforeEach(async () => {
      world = await ProcessWorld.open({ grounds: await makeGrounds() });
    });
    afterEach(() => world.close());

    test("resume does not repeat taken turns", async () => {
      const goal = { inputs: { door: "idempotent", parts: 3 } };
      const victim = await world.start({ failpoints: "worker.after_outcome_append=kill@2", session: { id: "s", goal } });
      await victim.hasFired("worker.after_outcome_append");
      expect(await victim.exited).toBeNull();
      const next = await world.start({ failpoints: "worker.after_effect=kill@1" });
      expect(await next.exited).toBeNull();
      await world.start();
      const state = await world.untilOver("s");
      expect(statusOf(state)).toMatchObject({ disposition: "done", iteration: 1, takeovers: 2, receipt: { sessionId: "s" } });
      expect(world.makers("s").filter(({ what }) => what === "turn").map(({ turn }) => turn)).toEqual([1, 2, 3]);
      expect(world.makers("s").filter(({ what }) => what === "begins").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(world.server.target.count("s")).toBe(3);
      expect(await world.broken("s")).toEqual([]);
    });

    test("resume with ambiguous tool outcome fails closed", async () => {
      const started = Promise.withResolvers<LoopProcess>();
      world.server.target.next("s", async (apply) => {
        apply();
        const running = await started.promise;
        running.kill();
        await running.exited;
        return { kind: "lost" };
      });
      const victim = await world.start({ session: { id: "s", goal: { inputs: { door: "unsafe" } } } });
      started.resolve(victim);
      expect(await victim.exited).toBeNull();
      const survivors = [await world.start(), await world.start()];
      const state = await world.until("s", ({ end }) => end !== null, "the end");
      expect(statusOf(state)).toMatchObject(unknown);
      const person = await world.person();
      for (const survivor of survivors) await survivor.isIdle();
      expect(world.makers("s").filter(({ what }) => what === "begins")).toHaveLength(1);
      expect(countOf(await world.folded("s"), "check")).toBe(1);
      expect(world.server.target.count("s", "call")).toBe(1);
      expect(await reconcile(person, "s" as never, "happened")).toMatchObject({ kind: "accepted" });
      expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", receipt: { sessionId: "s" } });
      expect(world.server.target.count("s", "call")).toBe(1);
      expect(world.server.target.count("s")).toBe(1);
      expect(await world.broken("s")).toEqual([]);
    });

    test("concurrent runner fails fast without duplicate work", async () => {
      const gate = Promise.withResolvers<void>();
      world.server.target.next("s", async (apply) => {
        await gate.promise;
        return apply();
      });
      const first = await world.start({ session: { id: "s", goal: { inputs: { door: "idempotent" } } } });
      await world.until("s", ({ unsettled }) => unsettled.length > 0, "the intent");
      const held = await world.state("s");
      const second = await world.start({ carry: "s" });
      expect(await second.exited).toBe(9);
      expect((await world.state("s")).seq).toBe(held.seq);
      expect(world.server.target.count("s", "call")).toBe(1);
      gate.resolve();
      expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", epoch: 1 });
      expect(await first.leave()).toBe(0);
      expect(world.makers("s").filter(({ what }) => what === "begins")).toHaveLength(1);
      expect(acceptedOf(await world.folded("s")).filter(({ type }) => type === "claimed")).toHaveLength(1);
      expect(world.server.target.count("s")).toBe(1);
      expect(await world.broken("s")).toEqual([]);
    });
  });
}

/** What a person types. */
export function promisesOfTheCommand(name: string, makeGrounds: () => Promise<Grounds>): void {
  vi.setConfig(patience);
  describe(`with bin/loopledger on ${name}`, () => {
    let project: Project | null = null;
    afterEach(() => project?.close());

    test("resume with ambiguous tool outcome fails closed", async () => {
      const made = await Project.make("s", { door: "unsafe" }, await makeGrounds());
      project = made;
      const started = Promise.withResolvers<ReturnType<Project["start"]>>();
      made.server.target.next("s", async (apply) => {
        apply();
        const { child, over } = await started.promise;
        child.kill("SIGKILL");
        await over;
        return { kind: "lost" };
      });
      started.resolve(made.start("run", "goal.json"));
      expect(await (await started.promise).over).toMatchObject({ code: null });
      expect(await made.run("run", "goal.json")).toMatchObject({ code: 3 });
      const status = await made.run("status", "s", "--json");
      const { effects } = JSON.parse(status.stdout);
      expect(JSON.parse(status.stdout)).toMatchObject({ ...unknown, effects: [{ state: "unknown" }] });
      expect([made.begun(), made.server.target.count("s", "call")]).toEqual([1, 1]);
      expect(await made.run("reconcile", "s", effects[0].key, "--happened", "--evidence", "production serves it")).toMatchObject({ code: 0 });
      expect(await made.run("run", "goal.json")).toMatchObject({ code: 0 });
      expect(JSON.parse((await made.run("status", "s", "--json")).stdout)).toMatchObject({ disposition: "done", receipt: { sessionId: "s" } });
      expect([made.begun(), made.server.target.count("s", "call"), made.server.target.count("s")]).toEqual([2, 1, 1]);
    });

    test("concurrent runner fails fast without duplicate work", async () => {
      const made = await Project.make("s", { door: "idempotent", waits: true }, await makeGrounds());
      project = made;
      const first = made.start("run", "goal.json");
      await until(() => made.begun() === 1, { what: "the maker" });
      const second = await made.run("run", "goal.json");
      expect(second).toMatchObject({ code: 9 });
      expect(second.stderr).toContain("held by another live process");
      writeFileSync(join(made.folder, "go-on-s"), "");
      expect(await first.over).toMatchObject({ code: 0 });
      expect([made.begun(), made.server.target.count("s", "call")]).toEqual([1, 1]);
    });
  });
}

function fromStart(ledger: Ledger): Map<number, never> {
  return new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, 0 as never]));
}
function placesOf(entries: readonly LogEntry[]): string[] {
  return entries.map(({ partition, offset }) => `${partition}/${String(offset).padStart(8, "0")}`);
}
