/** Failpoints with real processes: killed there, stopped there beyond the lease and woken again, and made to throw there. A suite that each adapter runs. */
import { statusOf } from "@loopledger/shared/core/session/status";
import type { SessionId } from "@loopledger/shared/core/brand";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import { submitGoal } from "@loopledger/shared/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { type Fault, doorOf, eachInTurn, needsPerson, sessionOf } from "../support/worlds/fault-plan.ts";
import type { Grounds } from "../support/worlds/grounds.ts";
import { type Folded, acceptedOf, countOf, voidsOf } from "../support/worlds/oracle.ts";
import type { Peer } from "../support/worlds/peer.ts";
import { type LoopProcess, ProcessWorld, goalOf } from "../support/worlds/processes.ts";
import { isOver, reconcile, shortLeaseMs } from "../support/worlds/world.ts";

const wholeMs = 900_000;
const width = 3;
const olga = { kind: "human", id: "olga" } as const;
const unknown = { disposition: "failed", reason: "incomplete_tool_turn", error: "external outcome unknown; reconciliation required" };

async function hit(world: ProcessWorld, fault: Fault, action: "kill" | "stop" | "throw"): Promise<LoopProcess> {
  const id = sessionOf(fault);
  const failpoints = `${fault.point}=${action}@${fault.nth}`;
  if (fault.isSubmitted) await submitGoal((await world.person()).engine, goalOf(fault.goal), { actor: olga, id: id as SessionId });
  const started = await world.start({ failpoints, ...(fault.isSubmitted ? { only: [id] } : { session: { id, goal: fault.goal } }) });
  await started.hasFired(fault.point);
  return started;
}

/** Submits again what never got to the ledger, settles what only a person can, and waits for the end. */
async function finish(world: ProcessWorld, fault: Fault, person: Peer): Promise<void> {
  const id = sessionOf(fault) as SessionId;
  if (fault.point.startsWith("intake.")) {
    const again = await submitGoal(person.engine, goalOf(fault.goal), { actor: olga, id });
    expect(again.kind).toBe(fault.point === "intake.before_append" ? "new" : "same");
  }
  if (needsPerson(fault)) {
    const state = await world.until(id, isOver, "the unknown outcome");
    expect(statusOf(state)).toMatchObject({ ...unknown, effects: [{ state: "unknown" }] });
    const calls = world.server.target.count(id, "call");
    if (fault.effect === "happened") expect(await reconcile(person, id, "happened")).toMatchObject({ kind: "accepted" });
    else await untilNoCallCanCome(world, person, id);
    expect(world.server.target.count(id, "call")).toBe(calls);
  }
  await world.untilOver(id);
}
/** A person's word that nothing happened is refused while a call can still come; where the machine was slow it comes after that time. */
async function untilNoCallCanCome(world: ProcessWorld, person: Peer, id: SessionId): Promise<void> {
  const { effects, unsettled, lastClaimAt } = await world.state(id);
  const effect = lookUp(effects, unsettled[0] ?? "");
  const over = effect ? windowOverAt(effect, lastClaimAt) : Number.NaN;
  const early = await reconcile(person, id, "did_not_happen");
  if (early.kind !== "accepted") {
    expect(early).toEqual({ kind: "void", reason: "not_owed" });
    await until(() => Date.now() > over, { what: "the end of the call window" });
    expect(await reconcile(person, id, "did_not_happen")).toMatchObject({ kind: "accepted" });
  }
  const { rows } = await world.folded(id);
  const word = rows.find(({ record, verdict }) => record?.type === "reconciled" && verdict.kind === "accepted");
  expect(word?.time).toBeGreaterThan(over);
}

/** What holds whatever the fault was: one effect, one receipt, no promise broken. */
async function sound(world: ProcessWorld, fault: Fault): Promise<Folded> {
  const id = sessionOf(fault);
  const folded = await world.folded(id);
  expect(statusOf(folded.state)).toMatchObject({ disposition: "done", reason: null, iteration: 1, receipt: { sessionId: id }, effects: [{ state: "confirmed" }] });
  expect(await world.broken(id)).toEqual([]);
  expect(world.server.target.count(id)).toBe(1);
  expect(countOf(folded, "built")).toBe(1);
  expect(countOf(folded, "receipt")).toBe(1);
  return folded;
}

export interface FaultMatrix {
  /** Follows each title: nothing, or where it is. */
  readonly where: string;
  readonly faults: readonly Fault[];
  readonly makeGrounds: () => Promise<Grounds>;
}

export function faultMatrix({ where, faults, makeGrounds }: FaultMatrix): void {
  describe(`a process that is killed${where}`, () => {
    let world: ProcessWorld;
    const victims = new Map<Fault, LoopProcess>();
    beforeAll(async () => {
      world = await ProcessWorld.open({ grounds: await makeGrounds() });
      await eachInTurn(faults, width, async (fault) => {
        victims.set(fault, await hit(world, fault, "kill"));
        await victims.get(fault)?.exited;
      });
      const person = await world.person();
      await world.start();
      await Promise.all(faults.map((fault) => finish(world, fault, person)));
    }, wholeMs);
    afterAll(() => world.close());

    test.each(faults)("$title: the next one goes on, and the effect is made once", async (fault) => {
      expect(await victims.get(fault)?.exited).toBeNull();
      const folded = await sound(world, fault);
      expect(voidsOf(folded).filter(({ type }) => type !== "reconciled")).toEqual([]);
    });
  });

  describe(`a process that is stopped beyond its lease, and woken when another has finished its work${where}`, () => {
    let world: ProcessWorld;
    const victims = new Map<Fault, LoopProcess>();
    const before = new Map<Fault, Folded>();
    beforeAll(async () => {
      world = await ProcessWorld.open({ leaseMs: shortLeaseMs, grounds: await makeGrounds() });
      await eachInTurn(faults, width, async (fault) => {
        victims.set(fault, await hit(world, fault, "stop"));
        await victims.get(fault)?.isStopped();
      });
      const person = await world.person();
      await world.start();
      await Promise.all(faults.map((fault) => finish(world, fault, person)));
      for (const fault of faults) before.set(fault, await world.folded(sessionOf(fault)));
      await eachInTurn([...victims.values()], width, async (victim) => {
        victim.kill("SIGCONT");
        await victim.isIdle();
      });
    }, wholeMs);
    afterAll(() => world.close());

    test.each(faults)("$title: what it writes late is void and listed, and the effect is made once", async (fault) => {
      const folded = await sound(world, fault);
      const known = before.get(fault)?.rows.length ?? 0;
      const late = folded.rows.slice(known);
      expect(late.filter(({ verdict }) => verdict.kind !== "void")).toEqual([]);
      if (fault.late !== null) expect(late.map(({ record }) => record?.type)).toContain(fault.late);
      expect(folded.state.seq).toBe(before.get(fault)?.state.seq);
      expect(await victims.get(fault)?.leave()).toBe(0);
    });
    test("F1 the woken processes hold a lease again: what they claim from then on is theirs", async () => {
      const victim = await hit(world, { ...faults[0] as Fault, point: "worker.after_read", goal: { inputs: { door: "fenced", parts: 2 } } }, "stop");
      await victim.isStopped();
      const { ownership } = (await world.person()).engine;
      const owner = (await victim.owner()) as never;
      await until(async () => (await ownership.holder(owner)) === "expired", { what: "the end of its lease" });
      victim.kill("SIGCONT");
      await until(async () => (await ownership.holder(owner)) === "live", { what: "a lease of its own again" });
    });
  });

  describe(`a process in which an error is thrown${where}`, () => {
    let world: ProcessWorld;
    const victims = new Map<Fault, LoopProcess>();
    beforeAll(async () => {
      world = await ProcessWorld.open({ grounds: await makeGrounds() });
      const person = await world.person();
      await eachInTurn(faults, width, async (fault) => {
        const victim = await hit(world, fault, "throw");
        victims.set(fault, victim);
        if (needsPerson(fault)) await finish(world, fault, person);
        await world.untilOver(sessionOf(fault));
        await victim.isIdle();
        expect(await victim.leave()).toBe(0);
      });
    }, wholeMs);
    afterAll(() => world.close());

    test.each(faults)("$title: it lives and goes on by itself", async (fault) => {
      const folded = await sound(world, fault);
      expect(isOver(folded.state)).toBe(true);
      const owners = new Set(acceptedOf(folded).flatMap((record) => (record.type === "claimed" ? [record.ownerId] : [])));
      expect(owners.size).toBe(1);
      expect(doorOf(fault)).toBe(folded.state.submission?.goal.inputs?.["door"]);
    });
  });
}
