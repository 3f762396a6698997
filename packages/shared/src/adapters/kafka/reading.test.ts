import { describe, expect, it } from "vitest";
import { LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import { Reading, Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import type { FetchedPart, FetchedRecord } from "./wire.ts";

const clock: Clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined };
/** Nothing of it is used while every piece is there at the first try. */
const topology = { topic: "x.ledger", connection: { ssl: null }, limits: { readMs: 0, writeMs: 0 } } as unknown as Topology;

/** Reads from a log in memory, two records a piece; a piece is given when the test says so. */
class CountedReading extends Reading {
  readonly log: string[] = [];
  readonly asked: number[] = [];
  /** How many records the leader has, look for look, where it has fewer than the log; then it has all of it. */
  lags: number[] = [];
  failure: Error | null = null;
  gate: Promise<void> = Promise.resolve();
  /** Of the first pieces, before the common one. */
  gates: Promise<void>[] = [];

  constructor() {
    super({ topology, clock, shown: new Shown(), check: async () => undefined });
  }
  override async piece(partition: number, { from }: { readonly from: number }): Promise<FetchedPart> {
    this.asked.push(from);
    await (this.gates.shift() ?? this.gate);
    if (this.failure !== null) throw this.failure;
    const has = this.lags.shift() ?? this.log.length;
    const messages = this.log.slice(0, has).slice(from, from + 2).map((key, i): FetchedRecord => ({
      offset: String(from + i), timestamp: "0", key: Buffer.from(key), value: Buffer.from(`${key} at ${from + i}`), headers: {}, isNoRecord: false,
    }));
    return { partition, errorCode: 0, lastStableOffset: String(has), end: String(has), messages };
  }
  async of(key: string, from = 0): Promise<(string | null)[]> {
    return (await this.entriesOf(0, key, from)).map(({ value }) => value);
  }
}

describe("histories of a partition", () => {
  it("that are asked for while it is read are found together in the next reading, each its own", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "a", "c");
    const opened = Promise.withResolvers<void>();
    reading.gate = opened.promise;
    const first = reading.of("a");
    await Promise.resolve();
    const others = ["b", "c", "a", "none", "b"].map((key) => reading.of(key));
    opened.resolve();
    expect(await first).toEqual(["a at 0", "a at 2"]);
    expect(await Promise.all(others)).toEqual([["b at 1"], ["c at 3"], ["a at 0", "a at 2"], [], ["b at 1"]]);
    expect(reading.asked.filter((from) => from === 0).length).toBeLessThanOrEqual(2);
  });

  it("hold what was appended before they were asked for, also where a reading was under way", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b");
    const opened = Promise.withResolvers<void>();
    reading.gate = opened.promise;
    const first = reading.of("b");
    await new Promise((next) => setImmediate(next));
    expect(reading.asked).toEqual([0]);
    reading.log.push("late");
    const late = reading.of("late");
    opened.resolve();
    await first;
    expect(await late).toEqual(["late at 2"]);
  });

  it("are never looked for in what is left of a reading that had begun before", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "c", "d");
    const opened = Promise.withResolvers<void>();
    reading.gates = [Promise.resolve(), opened.promise];
    const first = reading.of("d");
    await new Promise((next) => setImmediate(next));
    expect(reading.asked).toEqual([0, 2]);
    const late = reading.of("a");
    opened.resolve();
    expect(await first).toEqual(["d at 3"]);
    expect(await late).toEqual(["a at 0"]);
  });

  it("go on to what was shown before, where the leader now tells an earlier end", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "a", "b");
    expect(await reading.of("a", 1)).toEqual(["a at 2"]);
    reading.lags = [2, 2];
    expect(await reading.of("a", 1)).toEqual(["a at 2"]);
    expect(reading.lags).toEqual([]);
  });

  it("of one that fails are told so, and the next one begins anew", async () => {
    const reading = new CountedReading();
    reading.log.push("a");
    reading.failure = new LoopledgerError("ledger_lost", "The beginning is gone.");
    await expect(reading.of("a")).rejects.toMatchObject({ code: "ledger_lost" });
    reading.failure = null;
    expect(await reading.of("a")).toEqual(["a at 0"]);
  });

  it("from a later offset are read by themselves", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "a");
    expect(await reading.of("a", 1)).toEqual(["a at 2"]);
    expect(reading.asked[0]).toBe(1);
  });

  it("of a key that was not met in what was read begin where that ended, and of one that was met at its first record", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "c", "b");
    expect(await reading.of("none")).toEqual([]);
    reading.log.push("new", "c", "new");
    reading.asked.length = 0;
    expect(await reading.of("new")).toEqual(["new at 4", "new at 6"]);
    expect(Math.min(...reading.asked)).toBe(4);
    reading.asked.length = 0;
    expect(await reading.of("c")).toEqual(["c at 2", "c at 5"]);
    expect(reading.asked[0]).toBe(2);
  });

  it("of a key that a subscription met begin at the beginning as long as what lies before it was not read", async () => {
    const reading = new CountedReading();
    reading.log.push("a", "b", "a", "b");
    reading.keys.note(0, "a", 2);
    reading.keys.cover(0, { from: 2, to: 3 });
    expect(await reading.of("a")).toEqual(["a at 0", "a at 2"]);
    expect(reading.asked[0]).toBe(0);
  });
});
