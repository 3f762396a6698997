/**
 * F6: a process dies, or is stopped, while its call is under way. The call may arrive at the target before that, or late; whatever is
 * promised of the effect, it is made once.
 */
import { statusOf } from "@loopledger/shared/core/session/status";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eachInTurn } from "../support/worlds/fault-plan.ts";
import { type LoopProcess, ProcessWorld } from "../support/worlds/processes.ts";
import { type Door, doors } from "../support/worlds/target.ts";
import { isOver, reconcile, shortLeaseMs } from "../support/worlds/world.ts";

interface UnderWay {
  readonly door: Door;
  readonly signal: "SIGKILL" | "SIGSTOP";
  /** When the target takes the call: before the process is hit, right after it, or when another process has finished its work. */
  readonly arrives: "before" | "after" | "last";
}
const signals = ["SIGKILL", "SIGSTOP"] as const;
/** A call that arrives after everything is over is refused by a fence and answered by a key; others have a window, and it is over. */
const arrivalsOf = (door: Door): readonly UnderWay["arrives"][] => (door === "idempotent" || door === "fenced" ? ["before", "after", "last"] : ["before", "after"]);
const all: readonly UnderWay[] = doors.flatMap((door) => signals.flatMap((signal) => arrivalsOf(door).map((arrives) => ({ door, signal, arrives }))));
const idOf = ({ door, signal, arrives }: UnderWay): string => `${door}.${signal}.${arrives}`;

describe("a call under way", () => {
  let world: ProcessWorld;
  const victims = new Map<string, LoopProcess>();
  const finished = new Map<string, PromiseWithResolvers<void>>();
  const arrived: Promise<void>[] = [];

  async function begin(one: UnderWay): Promise<void> {
    const id = idOf(one);
    const [isHit, isCalled, isTaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isOverElsewhere = Promise.withResolvers<void>();
    finished.set(id, isOverElsewhere);
    arrived.push(isTaken.promise);
    world.server.target.next(id, async (apply) => {
      isCalled.resolve();
      if (one.arrives !== "before") await isHit.promise;
      if (one.arrives === "last") await isOverElsewhere.promise;
      apply();
      isTaken.resolve();
      await isHit.promise;
      return { kind: "lost" };
    });
    const victim = await world.start({ session: { id, goal: { inputs: { door: one.door } } } });
    victims.set(id, victim);
    await isCalled.promise;
    if (one.arrives === "before") await isTaken.promise;
    victim.kill(one.signal);
    await (one.signal === "SIGKILL" ? victim.exited : victim.isStopped());
    isHit.resolve();
  }
  async function finish({ door }: UnderWay, id: string): Promise<void> {
    if (door === "unsafe") {
      await world.until(id, isOver, "the unknown outcome");
      expect(statusOf(await world.state(id))).toMatchObject({ disposition: "failed", reason: "incomplete_tool_turn" });
      expect(await reconcile(await world.person(), id as never, "happened")).toMatchObject({ kind: "accepted" });
    }
    await world.untilOver(id);
    finished.get(id)?.resolve();
  }
  beforeAll(async () => {
    world = await ProcessWorld.open({ leaseMs: shortLeaseMs });
    await eachInTurn(all, 3, begin);
    await world.start();
    await Promise.all(all.map((one) => finish(one, idOf(one))));
    await Promise.all(arrived);
    await eachInTurn([...victims.values()].filter((victim) => !victim.isOver), 3, async (victim) => {
      victim.kill("SIGCONT");
      await victim.isIdle();
    });
  }, 600_000);
  afterAll(() => world.close());

  test.each(all)("$door, $signal, the target takes it $arrives: one effect, one receipt", async (one) => {
    const id = idOf(one);
    expect(statusOf(await world.state(id))).toMatchObject({ disposition: "done", takeovers: 1, receipt: { sessionId: id }, effects: [{ state: "confirmed" }] });
    expect(world.server.target.count(id)).toBe(1);
    expect(await world.broken(id)).toEqual([]);
    if (one.door === "unsafe") expect(world.server.target.count(id, "call")).toBe(1);
    if (one.door === "fenced" && one.arrives === "last") expect(world.server.target.count(id, "refused")).toBe(1);
  });
});
