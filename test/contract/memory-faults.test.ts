/** The faults of the memory adapters: each is seen to happen, and the same seed gives the same run. */
import type { OwnerId, SessionId } from "@loopledger/shared/core/brand";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import {
  createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createMemoryReadModel, createVirtualClock, type LedgerFaults,
} from "@loopledger/shared/memory";
import type { LogEntry, Positions } from "@loopledger/shared/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const session = (name: string): SessionId => name as SessionId;
const owner = (name: string): OwnerId => name as OwnerId;
const start: Positions = new Map([0, 1, 2, 3].map((partition) => [partition, 0 as never]));
const codeOf = (error: unknown): string => (error instanceof LoopledgerError ? error.code : String(error));

interface Run {
  readonly log: readonly string[];
  readonly seen: readonly string[];
  readonly answers: readonly string[];
}

/** Two processes append 40 batches of two under the given faults, one reader follows, and time runs until nothing is left to happen. */
async function run(faults: LedgerFaults, options: { seed: number; batchAtomicity?: boolean }): Promise<Run> {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger({ clock, ...options });
  const handles = [ledger.handle({ faults }), ledger.handle({ faults: { ...faults } })];
  const seen: string[] = [];
  const answers: string[] = [];
  await ledger.handle({ faults }).subscribe(start, (entries) => seen.push(...entries.map(show)));
  for (let i = 0; i < 40; i++) {
    void handles[i % 2]?.append(session(`s${i % 8}`), [`${i}a`, `${i}b`])
      .then(() => answers.push(`${i} ok`), (error: unknown) => answers.push(`${i} ${codeOf(error)}`));
    await clock.advance(1);
  }
  await clock.runUntilIdle();
  return { log: ledger.entries.map(show), seen, answers };
}
const show = (entry: LogEntry): string => (entry.key.startsWith("_") ? entry.key : `${entry.offset} ${entry.time} ${entry.key} ${entry.value}`);
const records = (log: readonly string[]): string[] => log.filter((line) => !line.startsWith("_")).map((line) => line.split(" ")[3] ?? "");
const counts = (log: readonly string[]): Map<string, number> => {
  const found = new Map<string, number>();
  for (const record of records(log)) found.set(record, (found.get(record) ?? 0) + 1);
  return found;
};

describe("a memory ledger with faults", () => {
  it("gives the same run for the same seed and another one for another", async () => {
    const faults: LedgerFaults = { drop: 0.1, duplicate: 0.2, loseAck: 0.1, delayMs: [0, 30], lagMs: [0, 40], chunkMax: 3 };
    const [one, again, other] = [await run(faults, { seed: 1 }), await run(faults, { seed: 1 }), await run(faults, { seed: 2 })];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it("hands a reader the whole log in order, whatever happens on the way", async () => {
    await fc.assert(fc.asyncProperty(fc.nat(), async (seed) => {
      const { log, seen } = await run({ drop: 0.1, duplicate: 0.2, loseAck: 0.1, delayMs: [0, 30], lagMs: [0, 40], chunkMax: 3 }, { seed });
      expect(seen).toEqual(log);
    }), { numRuns: 20 });
  });

  it("drops requests: their callers hear that nothing answered, and the log has none of them", async () => {
    const { log, answers } = await run({ drop: 0.3, delayMs: [1, 5] }, { seed: 3 });
    const lost = answers.filter((answer) => answer.endsWith("ledger_unreachable")).map((answer) => answer.split(" ")[0] ?? "");
    expect(lost.length).toBeGreaterThan(3);
    expect(lost.length).toBeLessThan(37);
    for (const number of lost) expect(counts(log).has(`${number}a`)).toBe(false);
    expect(records(log)).toHaveLength(2 * (40 - lost.length));
  });

  it("loses answers: the caller hears nothing, and the log has the records", async () => {
    const { log, answers } = await run({ loseAck: 0.3, delayMs: [1, 5] }, { seed: 4 });
    expect(answers.filter((answer) => answer.endsWith("ledger_unreachable")).length).toBeGreaterThan(3);
    expect(records(log)).toHaveLength(80);
  });

  it("appends a batch twice, later and whole", async () => {
    const { log, answers } = await run({ duplicate: 0.3, delayMs: [0, 20] }, { seed: 5 });
    const twice = [...counts(log)].filter(([, count]) => count === 2).map(([record]) => record);
    expect(twice.length).toBeGreaterThan(3);
    expect(twice.filter((record) => record.endsWith("a")).length * 2).toBe(twice.length);
    expect(answers.every((answer) => answer.endsWith("ok"))).toBe(true);
  });

  it("lets requests of different sessions overtake each other, and never those that one handle sends to one session", async () => {
    const { log } = await run({ delayMs: [0, 30] }, { seed: 6 });
    const numbers = records(log).filter((record) => record.endsWith("a")).map((record) => Number.parseInt(record, 10));
    expect(numbers).not.toEqual(numbers.toSorted((a, b) => a - b));
    for (let key = 0; key < 8; key++) {
      const own = numbers.filter((number) => number % 8 === key);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  });

  it("tears a batch only where batches are not atomic", async () => {
    const torn = (log: readonly string[]): number => [...counts(log).keys()].filter((record) => record.endsWith("a"))
      .filter((record) => records(log)[records(log).indexOf(record) + 1] !== record.replace("a", "b")).length;
    const faults: LedgerFaults = { split: 0.5, delayMs: [0, 20] };
    expect(torn((await run(faults, { seed: 7, batchAtomicity: false })).log)).toBeGreaterThan(3);
    expect(torn((await run(faults, { seed: 7 })).log)).toBe(0);
  });

  it("answers reads from the past where it is told to", async () => {
    const clock = createVirtualClock();
    const ledger = createMemoryLedger({ clock });
    const [fresh, stale] = [ledger.handle(), ledger.handle({ faults: { staleRead: 1, staleMs: 50 } })];
    await fresh.append(session("s"), ["old"]);
    await clock.advance(40);
    await fresh.append(session("s"), ["new"]);
    expect(await stale.readSession(session("s"))).toEqual([]);
    await clock.advance(20);
    expect((await stale.readSession(session("s"))).map((entry) => entry.value)).toEqual(["old"]);
    await clock.advance(60);
    expect(await stale.readSession(session("s"))).toEqual(await fresh.readSession(session("s")));
  });

  it("never shows less than its handle has shown before", async () => {
    const clock = createVirtualClock();
    const ledger = createMemoryLedger({ clock });
    const [fresh, stale] = [ledger.handle(), ledger.handle({ faults: { staleRead: 1, staleMs: 50 } })];
    await fresh.append(session("s"), ["old"]);
    expect(await stale.readSession(session("s"))).toEqual([]);
    const partition = stale.partitionOf("s");
    expect((await stale.end()).get(partition)).toBe(2);
    expect(await stale.readSession(session("s"))).toEqual(await fresh.readSession(session("s")));
    await stale.subscribe(new Map([[partition, 0 as never]]), () => undefined);
    await fresh.append(session("s"), ["new"]);
    await clock.settle();
    expect((await stale.readSession(session("s"))).map((entry) => entry.value)).toEqual(["old", "new"]);
  });
});

describe("a simulated process", () => {
  it("hears nothing while it is paused, and all of it in order afterwards", async () => {
    const clock = createVirtualClock();
    const ledger = createMemoryLedger({ clock });
    const sleeper = createMemoryProcess(clock);
    const heard: string[] = [];
    const handle = ledger.handle({ process: sleeper });
    await handle.subscribe(await handle.end(), (entries) => heard.push(...entries.map((entry) => entry.value ?? "")));
    sleeper.clock.after(10, () => heard.push("timer"));
    const other = ledger.handle();
    await other.append(session("s"), ["before"]);
    await clock.settle();
    sleeper.pause();
    await other.append(session("s"), ["during"]);
    await clock.advance(20);
    expect(heard).toEqual(["before"]);
    sleeper.resume();
    expect(heard).toEqual(["before", "during", "timer"]);
    sleeper.pause();
    sleeper.clock.after(5, () => heard.push("never"));
    sleeper.kill();
    sleeper.resume();
    await other.append(session("s"), ["late"]);
    await clock.runUntilIdle();
    expect([heard.length, sleeper.state]).toEqual([3, "killed"]);
  });

  it("sends nothing once it is killed", async () => {
    const clock = createVirtualClock();
    const ledger = createMemoryLedger({ clock });
    const process = createMemoryProcess(clock);
    const handle = ledger.handle({ process });
    process.kill();
    void handle.append(session("s"), ["ghost"]);
    await clock.runUntilIdle();
    expect(await ledger.handle().readSession(session("s"))).toEqual([]);
  });

  it("has a wall clock that may be wrong and a monotonic one that is not", async () => {
    const clock = createVirtualClock();
    const process = createMemoryProcess(clock);
    process.skew(3_600_000);
    expect(process.clock.now() - clock.now()).toBe(3_600_000);
    expect(process.clock.monotonic()).toBe(clock.monotonic());
    const ledger = createMemoryLedger({ clock });
    await ledger.handle({ process }).append(session("s"), ["x"]);
    expect((await ledger.handle().readSession(session("s")))[0]?.time).toBe(clock.now());
  });

  it("is seen to be dead by its own machine only", () => {
    const clock = createVirtualClock();
    const hosts = createMemoryHosts();
    const [one, two, far] = [createMemoryProcess(clock), createMemoryProcess(clock), createMemoryProcess(clock)];
    const [onOne, onTwo, onFar] = [hosts.on("a", one), hosts.on("a", two), hosts.on("b", far)];
    expect([onTwo.look(onOne.self()), onFar.look(onOne.self())]).toEqual(["alive", "elsewhere"]);
    one.pause();
    expect(onTwo.look(onOne.self())).toBe("alive");
    one.kill();
    expect([onTwo.look(onOne.self()), onFar.look(onOne.self())]).toEqual(["dead", "elsewhere"]);
    expect(onTwo.look({ ...onTwo.self(), startTime: "another" })).toBe("dead");
  });
});

describe("virtual time", () => {
  it("fires timers by due time, equal ones in the order in which they were set, each with all that follows from it", async () => {
    const clock = createVirtualClock();
    const fired: string[] = [];
    for (const [name, delayMs] of [["c", 20], ["a", 10], ["b", 10], ["never", 15]] as const) {
      const cancel = clock.after(delayMs, () => {
        fired.push(`${name} ${clock.monotonic()}`);
        void Promise.resolve().then(() => Promise.resolve()).then(() => fired.push(`${name}'`));
        if (name === "a") clock.after(0, () => fired.push("a again"));
      });
      if (name === "never") cancel();
    }
    await clock.advance(10);
    expect(fired).toEqual(["a 10", "a'", "b 10", "b'", "a again"]);
    await clock.runUntilIdle();
    expect(fired.slice(5)).toEqual(["c 20", "c'"]);
    expect([clock.pending, clock.monotonic()]).toEqual([0, 20]);
  });
});

describe("a memory lease service with faults", () => {
  it("loses leases, keeps silent, and lets two in", async () => {
    const clock = createVirtualClock();
    const service = createMemoryOwnership({ clock, seed: 1 });
    const [good, forgetful, silent, lax] = [
      service.handle(), service.handle({ faults: { lose: 1 } }), service.handle({ faults: { unreachable: 1 } }), service.handle({ faults: { twice: 1 } }),
    ];
    const lease = await good.register(owner("a"), 1_000);
    service.lose(owner("a"));
    expect([lease.valid(), await good.holder(owner("a")), await lease.renew(), lease.valid()]).toEqual([true, "expired", false, false]);
    const second = await forgetful.register(owner("b"), 1_000);
    expect([await second.renew(), second.valid()]).toEqual([false, false]);
    expect([(await silent.register(owner("c"), 1_000)).valid(), await silent.holder(owner("a"))]).toEqual([false, "unreachable"]);
    expect([await good.tryTake("r", owner("a"), 1_000), await lax.tryTake("r", owner("d"), 1_000)]).toEqual([true, true]);
    service.forget();
    expect(await good.tryTake("r", owner("e"), 1_000)).toBe(true);
  });
});

describe("a memory read model with faults", () => {
  it("shows views as they were, loses answers and writes", async () => {
    const store = createMemoryReadModel({ clock: createVirtualClock() });
    const faults = { staleRead: 0, loseAck: 0, drop: 0 };
    const model = store.handle({ ledgerId: "l", faults });
    const view = (document: string) => [{ sessionId: session("s"), disposition: "running", at: 1, labels: {}, document, snapshot: null }];
    const write = (at: number, document: string) => model.write("main", { partition: 0, from: at as never, to: (at + 1) as never, views: view(document) });
    await write(0, "one");
    await write(1, "two");
    faults.staleRead = 1;
    expect(await model.get("main", session("s"))).toBe("one");
    Object.assign(faults, { staleRead: 0, loseAck: 1 });
    await expect(write(2, "three")).rejects.toMatchObject({ code: "views_unreachable" });
    expect(await model.get("main", session("s"))).toBe("three");
    Object.assign(faults, { loseAck: 0, drop: 1 });
    await expect(write(3, "four")).rejects.toMatchObject({ code: "views_unreachable" });
    expect(await model.cursors("main")).toEqual(new Map([[0, 3]]));
  });
});
