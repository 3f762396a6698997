/** Roles in processes of their own, several of each: whoever writes what is owed, it counts once; whoever dies, another one goes on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Deploying, deploying } from "../support/worlds/deploying.ts";
import { memoryWorld } from "../support/worlds/memory-world.ts";
import { acceptedOf, brokenBy, brokenEffects, countOf, foldSession } from "../support/worlds/oracle.ts";
import type { Peer, Role } from "../support/worlds/peer.ts";
import { sqliteWorld } from "../support/worlds/sqlite-world.ts";
import { Target } from "../support/worlds/target.ts";
import { type World, stateOf, submit, untilOver } from "../support/worlds/world.ts";

describe.each([{ adapter: "memory", make: () => memoryWorld() }, { adapter: "SQLite in one process", make: () => sqliteWorld() }])("on $adapter", ({ make }) => {
  let folder: string;
  let target: Target;
  let world: World;
  let peers: Peer[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "loopledger-roles-"));
    target = new Target(folder);
    world = make();
    peers = [];
  });
  afterEach(async () => {
    for (const peer of peers) if (peer.process.state === "running") await peer.leave();
    await world.close();
    target.close();
    rmSync(folder, { recursive: true, force: true });
  });
  async function joins(role: Role, maker?: Deploying["maker"]): Promise<Peer> {
    const peer = await world.join({ handlers: deploying({ target, iterations: 3, door: "fenced", ...(maker && { maker }) }), roles: [role] });
    peers.push(peer);
    peer.work();
    return peer;
  }
  async function sound(id: SessionId): Promise<void> {
    const folded = foldSession(await world.entries(), id);
    expect([...brokenBy(folded), ...brokenEffects(folded, target.rows())]).toEqual([]);
    expect(countOf(folded, "dispatched")).toBe(7);
    expect(countOf(folded, "receipt")).toBe(1);
    const claims = acceptedOf(folded).flatMap((record) => (record.type === "claimed" ? [record.actor.kind] : []));
    expect(claims).toEqual(["checker", "worker", "checker", "worker", "checker", "worker", "checker"]);
  }

  test("F15 two schedulers, two workers and two checkers carry sessions to their receipts", async () => {
    for (const role of ["scheduler", "worker", "checker", "scheduler", "worker", "checker"] as const) await joins(role);
    const [first] = peers as [Peer];
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
