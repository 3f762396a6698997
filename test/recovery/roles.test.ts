/** Roles in processes of their own, several of each: whoever writes what is owed, it counts once; whoever dies, another one goes on. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, countOf } from "../support/worlds/oracle.ts";
import type { Peer, Role } from "../support/worlds/peer.ts";
import { Scene } from "../support/worlds/scene.ts";
import { sqliteWorld } from "../support/worlds/sqlite-world.ts";
import type { Target } from "../support/worlds/target.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

describe.each([{ adapter: "memory", make: () => memoryWorld() }, { adapter: "SQLite in one process", make: () => sqliteWorld() }])("on $adapter", ({ make }) => {
  let scene: Scene;
  let target: Target;
  let world: World;
  beforeEach(() => {
    scene = new Scene(make());
    ({ target, world } = scene);
  });
  afterEach(() => scene.close());
  const joins = (role: Role, maker?: Deploying["maker"]): Promise<Peer> => scene.works({ iterations: 3, door: "fenced", ...(maker && { maker }) }, { roles: [role] });
  async function sound(id: SessionId): Promise<void> {
    expect(await scene.broken(id)).toEqual([]);
    const folded = await scene.folded(id);
    expect(countOf(folded, "dispatched")).toBe(7);
    expect(countOf(folded, "receipt")).toBe(1);
    const claims = acceptedOf(folded).flatMap((record) => (record.type === "claimed" ? [record.actor.kind] : []));
    expect(claims).toEqual(["checker", "worker", "checker", "worker", "checker", "worker", "checker"]);
  }

  test("F15 two schedulers, two workers and two checkers carry sessions to their receipts", async () => {
    const first = await joins("scheduler");
    for (const role of ["worker", "checker", "scheduler", "worker", "checker"] as const) await joins(role);
    const ids = await Promise.all(["a", "b", "c"].map((id) => submit(first, id)));
    for (const id of ids) {
      expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 3, receipt: { sessionId: id } });
      expect(target.count(id)).toBe(3);
      await sound(id);
    }
  });
  test("F13 without a scheduler what follows from an owner's record still follows; a timer waits for the next scheduler", async () => {
    let isFirst = true;
    const maker: Deploying["maker"] = async (task) => {
      if (isFirst) {
        isFirst = false;
        throw Object.assign(new Error("not now"), { transient: true });
      }
      await task.tool("fenced", { version: task.iteration });
    };
    await joins("worker", maker);
    const checker = await joins("checker");
    const id = await submit(checker, "s");
    const standing = async () => statusOf(await stateOf(world, id));
    await world.until(async () => (await standing()).reason === "retry", "the retry");
    const due = (await stateOf(world, id)).timers[0]?.dueAt ?? 0;
    await world.until(() => checker.engine.clock.now() > due + 100, "the time of the retry");
    expect(await standing()).toMatchObject({ disposition: "waiting", reason: "retry", waitingOn: [{ kind: "retry" }] });
    expect(target.count(id, "call")).toBe(0);
    await joins("scheduler");
    expect(statusOf(await untilOver(world, id))).toMatchObject({ disposition: "done", iteration: 3, receipt: { sessionId: id } });
    expect(target.count(id)).toBe(3);
    await sound(id);
  });
});
