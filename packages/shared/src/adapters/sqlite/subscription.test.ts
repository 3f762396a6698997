import { hash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Offset } from "../../core/brand.ts";
import type { Clock, Ids, LogEntry } from "../../ports/index.ts";
import { createCommitWriter } from "./commit-writer.ts";
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { RecentPositions } from "./recent-positions.ts";
import { LedgerSubscription } from "./subscription.ts";
import { Tail } from "./tail.ts";

let folder: string;
let files: LedgerFile[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-subscription-"));
});
afterEach(() => {
  for (const { db } of files) db.close();
  files = [];
  rmSync(folder, { recursive: true });
});

const clock: Clock = { now: () => 1_000, monotonic: () => 0, after: () => () => {} };
const ids: Ids = { uuid: () => randomUUID(), random: () => 0, sha256: (text) => hash("sha256", text) };
/** The parts of a process's ledger, without the bell that would wake it. */
function openDeaf() {
  const file = openLedgerFile({ folder, partitions: 4, clock, ids });
  files.push(file);
  const rows = createLedgerRows(file);
  const failed = (error: unknown): void => {
    throw error;
  };
  const tail = new Tail({ rows, start: file.end, isBusy: () => false, failed });
  const write = createCommitWriter({ file, clock, recent: new RecentPositions(file), delivered: () => tail.delivered });
  const subscribe = (from: ReadonlyMap<number, Offset>, listener: (entries: readonly LogEntry[]) => void, told = failed) => new LedgerSubscription({
    rows, tail, from, listener, failed: told, isBusy: () => false, closed: () => {}, flushed: async () => {}, end: async () => rows.last(),
  });
  return { rows, tail, write, subscribe };
}
const values = (entries: readonly LogEntry[]): (string | null)[] => entries.map((entry) => entry.value);

describe("a subscription", () => {
  it("begins at a position that another process told, where its own process has not seen the log go that far", async () => {
    const [reader, writer] = [openDeaf(), openDeaf()];
    writer.write([{ key: "s", values: ["1", "2", "3"] }]);
    const got: LogEntry[] = [];
    const subscription = reader.subscribe(writer.rows.ends(), (entries) => got.push(...entries));
    await subscription.caughtUp();
    expect(got).toEqual([]);
    writer.write([{ key: "s", values: ["4"] }]);
    await subscription.caughtUp();
    expect(values(got)).toEqual(["4"]);
  });

  it("hands on own entries after those that another process committed before them", async () => {
    const [reader, writer] = [openDeaf(), openDeaf()];
    const got: LogEntry[] = [];
    const subscription = reader.subscribe(reader.rows.ends(), (entries) => got.push(...entries));
    await subscription.caughtUp();
    writer.write([{ key: "s", values: ["theirs"] }]);
    reader.tail.own(reader.write([{ key: "s", values: ["ours"] }]));
    expect(values(got)).toEqual(["theirs", "ours"]);
  });

  it("does not hand on again what a reader that was behind has read by itself", async () => {
    const { write, tail, subscribe } = openDeaf();
    for (let i = 0; i < 3; i++) tail.own(write([{ key: "s", values: [`${i}`] }]));
    const got: LogEntry[] = [];
    const subscription = subscribe(new Map([0, 1, 2, 3].map((partition) => [partition, 5 as Offset])), (entries) => got.push(...entries));
    tail.own(write([{ key: "s", values: ["3"] }]));
    await subscription.caughtUp();
    tail.own(write([{ key: "s", values: ["4"] }]));
    expect(values(got)).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("that throws on what it is handed in its turn is handed the same again, before any later one, while others go on", async () => {
    const { write, rows, tail, subscribe } = openDeaf();
    const [heard, other, told]: [LogEntry[], LogEntry[], unknown[]] = [[], [], []];
    let faults = 2;
    const struck = subscribe(rows.ends(), (entries) => {
      if (faults-- > 0) throw new Error("struck");
      heard.push(...entries);
    }, (error) => void told.push(error));
    const sound = subscribe(rows.ends(), (entries) => other.push(...entries));
    await Promise.all([struck.caughtUp(), sound.caughtUp()]);
    for (const value of ["1", "2", "3"]) tail.own(write([{ key: "s", values: [value] }]));
    expect([values(heard), values(other)]).toEqual([[], ["1", "2", "3"]]);
    await struck.caughtUp();
    expect([values(heard), values(other), told.length]).toEqual([["1", "2", "3"], ["1", "2", "3"], 2]);
  });

  it("has caught up when it was handed everything up to there, however much another process has left", async () => {
    const [reader, writer] = [openDeaf(), openDeaf()];
    const got: LogEntry[] = [];
    const subscription = reader.subscribe(reader.rows.ends(), (entries) => got.push(...entries));
    await subscription.caughtUp();
    const keys = ["a", "b", "c", "d", "e"];
    for (let i = 0; i < 10; i++) writer.write(keys.map((key) => ({ key, values: Array.from({ length: 200 }, (_, n) => `${i}/${n}`) })));
    await subscription.caughtUp();
    expect(got.map(({ offset }) => offset)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 5));
  });

  it("reads what is behind in every partition before it is handed what comes", async () => {
    const { write, tail, subscribe } = openDeaf();
    const got: LogEntry[] = [];
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    for (const value of ["1", "2"]) tail.own(write(keys.map((key) => ({ key, values: [value] }))));
    const subscription = subscribe(new Map([0, 1, 2, 3].map((partition) => [partition, 5 as Offset])), (entries) => got.push(...entries));
    await subscription.caughtUp();
    tail.own(write(keys.map((key) => ({ key, values: ["3"] }))));
    for (const key of keys) expect(values(got.filter((entry) => entry.key === key))).toEqual(["1", "2", "3"]);
    expect(new Set(got.map(({ partition }) => partition)).size).toBe(4);
  });
});
