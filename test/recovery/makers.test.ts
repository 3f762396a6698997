/** What a dead or frozen process leaves behind: makers that are run again, makers that still run, handlers that kill whoever runs them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "@loopledger/shared/core/brand";
import { boundsOf } from "@loopledger/shared/core/events/goal";
import { goalDigest } from "@loopledger/shared/core/session/rules/submission";
import { rulesKnown } from "@loopledger/shared/core/session/state";
import { statusOf } from "@loopledger/shared/core/session/status";
import { appendAll, withDerived } from "@loopledger/shared/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { countOf, voidsOf } from "../support/worlds/oracle.ts";
import { type GoalGiven, type LoopProcess, ProcessWorld, goalOf } from "../support/worlds/processes.ts";
import { decideOn, shortLeaseMs } from "../support/worlds/world.ts";

let world: ProcessWorld;
/** Each test of a group has a world of its own. */
function inWorlds(options: { readonly leaseMs?: number } = {}): void {
  beforeEach(async () => {
    world = await ProcessWorld.open(options);
  });
  afterEach(() => world.close());
}

/** A process that starts to work when it is woken: it has been stopped since before there was anything to do. */
async function asleep(): Promise<LoopProcess> {
  const process = await world.start();
  process.kill("SIGSTOP");
  await process.isStopped();
  return process;
}

describe("a maker that words its call anew when it is run again", () => {
  inWorlds();
  async function askedAgain(): Promise<void> {
    const goal = { maker: "talkative", inputs: { door: "idempotent" } };
    const victim = await world.start({ failpoints: "worker.after_effect=kill", session: { id: "s", goal } });
    await victim.exited;
    await world.start();
    const state = await world.until("s", ({ pending }) => pending.length > 0, "the question");
    expect(statusOf(state)).toMatchObject({ disposition: "waiting", reason: "approval", effects: [{ state: "confirmed" }] });
    expect(world.server.target.count("s")).toBe(1);
  }

  test("a person is asked before a second call is made, and after APPROVE exactly the proposed one is", async () => {
    await askedAgain();
    expect(await decideOn(await world.person(), "s" as never, "APPROVE")).toMatchObject({ kind: "accepted" });
    const state = await world.untilOver("s");
    expect(statusOf(state)).toMatchObject({ disposition: "done", iteration: 1, receipt: { sessionId: "s" } });
    const intents = (await world.folded("s")).rows.flatMap(({ record }) => (record?.type === "tool_requested" ? [record.data.args] : []));
    expect(intents).toEqual([{ text: "please deploy" }, { text: "deploy, please" }]);
    expect(world.server.target.count("s")).toBe(2);
    expect(world.server.target.count("s", "call")).toBe(3);
    expect(await world.broken("s")).toEqual([]);
  });
  test("after REJECT there is no second call", async () => {
    await askedAgain();
    expect(await decideOn(await world.person(), "s" as never, "REJECT")).toMatchObject({ kind: "accepted" });
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "handed_off", reason: "approval_rejected" });
    expect(world.server.target.count("s")).toBe(1);
    expect(await world.broken("s")).toEqual([]);
  });
});

describe("two makers of one session never run at once", () => {
  // One that is stopped loses its lease, and the one that took over keeps its own while it stands still for a moment.
  inWorlds({ leaseMs: 5_000 });
  const waiting: GoalGiven = { maker: "program", inputs: { door: "fenced", waits: true } };
  const goOn = (id: string): void => writeFileSync(join(world.folder, `go-on-${id}`), "");
  const begins = (id: string) => world.makers(id).filter(({ what }) => what === "begins");

  test("where their owner is stopped and another takes over, also after it wakes", async () => {
    const next = await asleep();
    const frozen = await world.start({ session: { id: "s", goal: waiting }, logLevel: "info" });
    await world.until("s", () => begins("s").length === 1, "the first maker");
    frozen.kill("SIGSTOP");
    next.kill("SIGCONT");
    await world.until("s", () => begins("s").length === 2, "the second maker");
    frozen.kill("SIGCONT");
    await frozen.isIdle();
    await until(() => /"epoch":1,"current":2,.*run ownership moved: s/.test(frozen.stderr), { what: "its word that it is no owner any more" });
    goOn("s");
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", takeovers: 1 });
    await frozen.isIdle();
    expect(begins("s").map(({ others }) => others)).toEqual([[], []]);
    expect(world.makers("s").filter(({ what }) => what === "ends").map(({ pid }) => pid)).toEqual([begins("s")[1]?.pid]);
    expect(world.server.target.count("s")).toBe(1);
    expect(await world.broken("s")).toEqual([]);
  });
  test("where their owner is killed", async () => {
    const next = await asleep();
    const killed = await world.start({ session: { id: "s", goal: waiting } });
    await world.until("s", () => begins("s").length === 1, "the first maker");
    killed.kill();
    next.kill("SIGCONT");
    await world.until("s", () => begins("s").length === 2, "the second maker");
    goOn("s");
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", takeovers: 1 });
    expect(begins("s").map(({ others }) => others)).toEqual([[], []]);
    expect(world.makers("s").filter(({ what }) => what === "ends")).toHaveLength(1);
    expect(await world.broken("s")).toEqual([]);
  });
  test("F20 where their owner is told to stop: it hands back, and the next one goes on without waiting for a lease", async () => {
    const next = await asleep();
    const told = await world.start({ session: { id: "s", goal: waiting } });
    await world.until("s", () => begins("s").length === 1, "the first maker");
    expect(await told.leave()).toBe(0);
    expect(countOf(await world.folded("s"), "handed_back")).toBe(1);
    next.kill("SIGCONT");
    await world.until("s", () => begins("s").length === 2, "the second maker");
    goOn("s");
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", takeovers: 0 });
    expect(begins("s").map(({ others }) => others)).toEqual([[], []]);
    expect(await world.broken("s")).toEqual([]);
  });
});

describe("F12 a process whose event loop is held up beyond its lease", () => {
  inWorlds({ leaseMs: shortLeaseMs });
  const held = [
    { point: "worker.before_built", door: "idempotent", late: ["built"] },
    { point: "worker.after_intent_readback", door: "idempotent", late: [] },
    { point: "worker.after_intent_readback", door: "fenced", late: [] },
    { point: "worker.after_intent_readback", door: "windowed", late: [] },
  ];
  test("what it does afterwards does not count, and its effect is made once, however it is promised", async () => {
    const next = await asleep();
    const busy = await Promise.all(held.map(({ point, door }) =>
      world.start({ failpoints: `${point}=block:12000`, session: { id: `${point}.${door}`, goal: { inputs: { door } } } })));
    await Promise.all(busy.map((one, index) => one.hasFired(held[index]?.point ?? "")));
    next.kill("SIGCONT");
    await Promise.all(held.map(({ point, door }) => world.untilOver(`${point}.${door}`)));
    await Promise.all(busy.map((one) => one.isIdle()));
    for (const { point, door, late } of held) {
      const id = `${point}.${door}`;
      const folded = await world.folded(id);
      expect(statusOf(folded.state)).toMatchObject({ disposition: "done", takeovers: 1, receipt: { sessionId: id } });
      expect(voidsOf(folded).map(({ type }) => type)).toEqual(expect.arrayContaining(late));
      expect(world.server.target.count(id)).toBe(1);
      expect(await world.broken(id)).toEqual([]);
    }
  });
});

/** A goal whose session is handed off after so many takeovers. */
async function submitBounded(goal: ReturnType<typeof goalOf>, takeovers: number): Promise<void> {
  const { engine } = await world.person();
  const id = "s" as SessionId;
  const data = { goal, digest: goalDigest(goal, { sha256: engine.ids.sha256 }), bounds: { ...boundsOf(goal), takeovers }, rules: rulesKnown };
  const submission = engine.author.write(id, { type: "goal_submitted", data, actor: { kind: "human", id: "olga" } });
  await appendAll(engine, id, withDerived(engine, await engine.folds.open(id), [submission]));
}

describe("F21 a handler that kills whoever runs it", () => {
  inWorlds();
  test("the ledger counts the takeovers, and hands off at the limit", async () => {
    const takeovers = 3;
    await submitBounded(goalOf({ maker: "poison", inputs: { door: "idempotent" } }), takeovers);
    for (let deaths = 0; deaths < takeovers; deaths++) expect(await (await world.start()).exited).toBeNull();
    const survivor = await world.start();
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "handed_off", reason: "takeover_limit" });
    await survivor.isIdle();
    expect(survivor.isOver).toBe(false);
    expect(countOf(await world.folded("s"), "claimed")).toBe(takeovers + 1);
    expect(await world.broken("s")).toEqual([]);
  });
});

describe("F22 a process whose handler needs more memory than it has", () => {
  inWorlds();
  const goal = goalOf({ maker: "hoarder", inputs: { door: "idempotent" } });
  const isOutOfMemory = async (process: LoopProcess): Promise<void> => {
    expect(await process.exited).toBeNull();
    expect(process.stderr).toContain("JavaScript heap out of memory");
  };

  test("dies of it after the effect; the next one, which has enough, goes on, and the effect is made once", async () => {
    await submitBounded(goal, 3);
    await isOutOfMemory(await world.start({ heapMiB: 96 }));
    expect(world.server.target.count("s")).toBe(1);
    await world.start();
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "done", takeovers: 1, receipt: { sessionId: "s" } });
    expect(world.makers("s").map(({ what }) => what)).toEqual(["begins", "begins"]);
    expect(world.server.target.count("s")).toBe(1);
    expect(await world.broken("s")).toEqual([]);
  });

  test("dies of it again and again: the ledger counts the takeovers, hands off at the limit, and who sees to that lives", async () => {
    const takeovers = 2;
    await submitBounded(goal, takeovers);
    // The first one got something done, its effect, before it died.
    for (let deaths = 0; deaths < takeovers + 1; deaths++) await isOutOfMemory(await world.start({ heapMiB: 96 }));
    const survivor = await world.start({ heapMiB: 96 });
    expect(statusOf(await world.untilOver("s"))).toMatchObject({ disposition: "handed_off", reason: "takeover_limit" });
    await survivor.isIdle();
    expect(survivor.isOver).toBe(false);
    expect(world.server.target.count("s")).toBe(1);
    expect(await world.broken("s")).toEqual([]);
  });
});
