import { describe, expect, test } from "vitest";
import type { SessionId } from "@loopledger/shared/core/brand";
import { canonicalJson } from "@loopledger/shared/core/json";
import { makeEvolve } from "@loopledger/shared/core/session/evolve";
import { guardsOn } from "@loopledger/shared/core/fencing/guards";
import { createVirtualClock } from "@loopledger/shared/memory";
import { type Change, type Engine, Folds, Liveness, Supervision, appendAct, restoreFolds, submitGoal } from "@loopledger/shared/runtime";
import { goalOf, randomOf } from "@loopledger/shared/testing";
import { Walker, memoryPlace, person } from "../support/walks.ts";
import { opened, started, walk } from "../projector/views.ts";

const [struck, other] = ["struck", "other"] as [SessionId, SessionId];
const guide = (engine: Engine, id: SessionId, text: string) => appendAct(engine, id, { type: "guidance", data: { text }, actor: person });

/** A second fold of the place's ledger, whose own time goes on by hand. */
async function secondFold(writer: Engine) {
  const clock = createVirtualClock();
  const faults: string[] = [];
  const supervision = new Supervision({ clock, report: (_error, what) => faults.push(what) });
  const strikes = { left: 0 };
  const evolve = makeEvolve(guardsOn);
  const folds = new Folds({
    ledger: writer.ledger, ids: writer.ids, supervision, report: () => undefined,
    evolve: (state, entry, sha256) => {
      if (entry.key === struck && strikes.left > 0) {
        strikes.left--;
        throw new Error("struck");
      }
      return evolve(state, entry, sha256);
    },
  });
  const changes: string[] = [];
  const note = ({ sessionId, entry }: Change): void => void changes.push(`${sessionId}@${entry.offset}`);
  return { clock, supervision, faults, strikes, folds, changes, note };
}
async function begun(engine: Engine): Promise<void> {
  for (const id of [struck, other]) await submitGoal(engine, goalOf(), { actor: person, id });
}
/** Every entry of the session, once and in order. */
async function allOf(engine: Engine, id: SessionId): Promise<string[]> {
  return (await engine.ledger.readSession(id)).map((entry) => `${id}@${entry.offset}`);
}

describe("folding that throws", () => {
  test("leaves the session at the state before, holds the position back, and goes on from there: no entry is skipped or told twice", async () => {
    const engine = await opened(memoryPlace()).join();
    const { clock, supervision, strikes, folds, changes, note } = await secondFold(engine);
    folds.listen(note, "noted");
    await folds.start(await engine.ledger.end());
    await begun(engine);
    await folds.caughtUp();
    const before = folds.peek(struck);
    strikes.left = 4;
    for (const text of ["a", "b", "c"]) await guide(engine, struck, text);
    await guide(engine, other, "x");
    expect(folds.peek(struck)).toBe(before);
    expect(folds.peek(other)?.guidance).toEqual(["x"]);
    expect(supervision.faulty()).toEqual(["folds"]);
    const partition = engine.ledger.partitionOf(struck);
    expect(folds.folded().get(partition)).toBeLessThan(folds.handed().get(partition) ?? 0);
    await expect(folds.open(struck)).rejects.toThrow("struck");
    await clock.advance(60_000);
    expect(supervision.faulty()).toEqual([]);
    expect(canonicalJson(folds.peek(struck))).toBe(canonicalJson(engine.folds.peek(struck)));
    expect(folds.folded().get(partition)).toBe(folds.handed().get(partition));
    for (const id of [struck, other]) expect(changes.filter((one) => one.startsWith(id))).toEqual(await allOf(engine, id));
    await folds.close();
  });

  test("in a session's history, which is read when it is first needed, does the same", async () => {
    const engine = await opened(memoryPlace()).join();
    await begun(engine);
    for (const text of ["a", "b"]) await guide(engine, struck, text);
    const { clock, strikes, folds, supervision } = await secondFold(engine);
    await folds.start(await engine.ledger.end());
    strikes.left = 2;
    await expect(folds.open(struck)).rejects.toThrow("struck");
    await guide(engine, struck, "c");
    await clock.advance(60_000);
    expect((await folds.open(struck)).guidance).toEqual(["a", "b", "c"]);
    expect(canonicalJson(folds.peek(struck))).toBe(canonicalJson(engine.folds.peek(struck)));
    expect(supervision.faulty()).toEqual([]);
    await folds.close();
  });
});

describe("a listener that throws", () => {
  test("hears of what it missed in order and once, and the others of everything at once", async () => {
    const engine = await opened(memoryPlace()).join();
    const { clock, supervision, folds, changes, note } = await secondFold(engine);
    const heard: string[] = [];
    let left = 3;
    folds.listen((change) => {
      if (change.sessionId === struck && left-- > 0) throw new Error("struck");
      heard.push(`${change.sessionId}@${change.entry.offset}`);
    }, "failing");
    folds.listen(note, "noted");
    await folds.start(await engine.ledger.end());
    await begun(engine);
    for (const text of ["a", "b", "c"]) await guide(engine, struck, text);
    await guide(engine, other, "x");
    await folds.caughtUp();
    expect(supervision.faulty()).toEqual(["failing"]);
    expect(heard.filter((one) => one.startsWith(struck))).toEqual([]);
    expect(changes.filter((one) => one.startsWith(struck))).toEqual(await allOf(engine, struck));
    await clock.advance(60_000);
    expect(supervision.faulty()).toEqual([]);
    for (const id of [struck, other]) expect(heard.filter((one) => one.startsWith(id))).toEqual(await allOf(engine, id));
    await folds.close();
  });

  test("and leaves is nobody's fault any more", async () => {
    const engine = await opened(memoryPlace()).join();
    const { clock, supervision, folds } = await secondFold(engine);
    const leave = folds.listen(() => {
      throw new Error("struck for good");
    }, "failing");
    await folds.start(await engine.ledger.end());
    await begun(engine);
    await folds.caughtUp();
    await clock.advance(60_000);
    expect(supervision.faulty()).toEqual(["failing"]);
    leave();
    expect(supervision.faulty()).toEqual([]);
    expect(folds.folded()).toEqual(folds.handed());
    await folds.close();
  });
});

describe("a process's start", () => {
  test.each(["active", "cursors", "alive"] as const)("knows every session that is alive although the views' %s throws", async (call) => {
    const place = opened(memoryPlace());
    const writer = await place.join();
    const projector = await started(writer);
    await walk(writer, { seed: 3, steps: 60 });
    await projector.caughtUp();
    const views = place.views();
    const throwing = (): never => {
      throw new Error("struck");
    };
    const fresh = await place.join({ still: true, views: { ...views, alive: (name) => views.alive(name), [call]: throwing } });
    await restoreFolds(fresh);
    const alive = writer.folds.ids().filter((id) => writer.folds.peek(id)?.end === null);
    expect(alive.length).toBeGreaterThan(0);
    for (const id of alive) expect(canonicalJson(fresh.folds.peek(id))).toBe(canonicalJson(writer.folds.peek(id)));
    expect(fresh.supervision.faulty()).toEqual([]);
  });

  test("takes place without a lease service, and has a lease once there is one again", async () => {
    const clock = createVirtualClock();
    const engine = await opened(memoryPlace(clock)).join();
    const { register } = engine.ownership;
    let isDown = true;
    const ownership = { ...engine.ownership, register: (...given: Parameters<typeof register>) => (isDown ? Promise.reject(new Error("no answer")) : register(...given)) };
    const liveness = new Liveness({ ...engine, ownership }, () => 0);
    await liveness.start();
    expect(engine.supervision.faulty()).toEqual(["lease"]);
    expect(await engine.ownership.holder(engine.ownerId)).toBe("expired");
    isDown = false;
    await clock.advance(2_000);
    expect(await engine.ownership.holder(engine.ownerId)).toBe("live");
    expect(engine.supervision.faulty()).toEqual([]);
    await liveness.stop();
  });
});

test("a session walks the same way beside listeners and folds that fail now and then", async () => {
  const engine = await opened(memoryPlace()).join();
  const random = randomOf(11);
  const fails = randomOf(12);
  engine.folds.listen(() => {
    if (fails.chance(0.2)) throw new Error("struck");
  }, "failing");
  const { heard } = engine.logClock;
  engine.logClock.heard = (time, own) => {
    if (fails.chance(0.05)) throw new Error("struck");
    heard.call(engine.logClock, time, own);
  };
  const walker = new Walker(engine, random);
  for (let step = 0; step < 120; step++) await walker.step(struck).catch((error: unknown) => expect(String(error)).toContain("struck"));
  engine.logClock.heard = heard;
  const fresh = await secondFold(engine);
  await fresh.folds.start(await engine.ledger.end());
  expect(canonicalJson(await engine.folds.open(struck))).toBe(canonicalJson(await fresh.folds.open(struck)));
  await fresh.folds.close();
});
