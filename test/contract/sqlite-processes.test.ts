/** The SQLite ledger shared by real processes: one is killed while it writes, several write at once, one wakes another. */
import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { type Child, startChild } from "./child.ts";
import { makeFolder } from "./folder.ts";

const clock = createSystemClock();
let folder: ReturnType<typeof makeFolder>;
let children: Child[] = [];
let ledgers: Ledger[] = [];

beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await Promise.all(children.map((child) => child.kill("SIGKILL")));
  for (const ledger of ledgers) await ledger.close();
  children = [];
  ledgers = [];
  folder.remove();
});

async function launch(...args: readonly string[]): Promise<Child> {
  const child = await startChild(...args);
  children.push(child);
  return child;
}
function open(): Ledger {
  const ledger = openSqliteLedger({ folder: folder.path, clock, ids: createSystemIds() });
  ledgers.push(ledger);
  return ledger;
}
/** What a child said it had been told, as session and number. */
const acknowledged = (child: Child): string[][] => child.lines.filter((line) => line.startsWith("acked ")).map((line) => line.split(" ").slice(1));

/** Fails where a batch of three is not whole, in order and unbroken, or where a number is missing; gives the last number. */
function checkBatches(entries: readonly LogEntry[]): number {
  expect(entries.length % 3).toBe(0);
  for (const [i, { value }] of entries.entries()) expect(value).toBe(`${Math.floor(i / 3) + 1}/${(i % 3) + 1}`);
  return entries.length / 3;
}

describe("sqlite ledger and processes", () => {
  it("keeps every acknowledged record and no half batch when a writer is killed at work", async () => {
    for (let round = 0; round < 3; round++) {
      const writer = await launch("write", folder.path, `w${round}`, "5");
      await writer.said((line) => line === `acked w${round}-2 ${40 + 17 * round}`);
      await writer.kill("SIGKILL");
      const ledger = open();
      for (const [session, number] of acknowledged(writer)) {
        expect(Number(number)).toBeLessThanOrEqual((await ledger.readSession(session as SessionId)).length / 3);
      }
      for (let i = 0; i < 5; i++) checkBatches(await ledger.readSession(`w${round}-${i}` as SessionId));
    }
  });

  it("lets several processes write at once, and shows all of it to a reader in order, once", async () => {
    const reader = open();
    const got: LogEntry[] = [];
    const subscription = await reader.subscribe(await reader.end(), (entries) => got.push(...entries));
    const writers = await Promise.all(["a", "b"].map((name) => launch("write", folder.path, name, "3")));
    const own = "own" as SessionId;
    for (let number = 1; number <= 60; number++) await reader.append(own, [1, 2, 3].map((part) => `${number}/${part}`));
    await Promise.all(writers.map((writer, i) => writer.said((line) => line === `acked ${"ab"[i]}-1 60`)));
    await Promise.all(writers.map((writer) => writer.kill("SIGKILL")));
    await subscription.caughtUp();
    for (const key of ["own", "a-0", "a-1", "a-2", "b-0", "b-1", "b-2"]) {
      const entries = got.filter((entry) => entry.key === key);
      expect(checkBatches(entries)).toBeGreaterThan(30);
      expect(entries).toEqual(await reader.readSession(key as SessionId));
    }
    // One log for all: positions are dense, and the time never goes back.
    const sorted = got.toSorted((a, b) => a.offset - b.offset);
    expect(sorted).toEqual(got);
    expect(got.map((entry) => entry.offset)).toEqual(got.map((_, i) => ((got[0]?.offset ?? 0) + i) as Offset));
    expect(got.every((entry, i) => i === 0 || entry.time >= (got[i - 1]?.time ?? 0))).toBe(true);
  });

  it("waits for a process that holds the write lock without standing still, and goes on when that one is killed", async () => {
    const ledger = open();
    const session = "waiting" as SessionId;
    const holder = await launch("hold", folder.path);
    let isDone = false;
    // More than one transaction takes, so that a part is tried again while the rest waits behind it.
    const batches = Array.from({ length: 11 }, (_, part) => Array.from({ length: 1_100 }, (_, i) => `${1_100 * part + i}`));
    const appends = Promise.all(batches.map((batch) => ledger.append(session, batch))).then(() => {
      isDone = true;
    });
    // Reads go on meanwhile, so the process is not held up, and they see nothing of what waits.
    for (let i = 0; i < 50; i++) expect(await ledger.readSession(session)).toEqual([]);
    const start = clock.monotonic();
    await until(() => clock.monotonic() - start > 100, { what: "the append to have been refused many times" });
    expect(isDone).toBe(false);
    await holder.kill("SIGKILL");
    await appends;
    expect((await ledger.readSession(session)).map((entry) => entry.value)).toEqual(batches.flat());
  });

  it("shows an append to another process within 20 ms, at the 99th percentile", async () => {
    const ledger = open();
    const echo = await launch("echo", folder.path);
    let number = 0;
    const measure = async (): Promise<number> => {
      const latencies: number[] = [];
      for (let i = 0; i < 300; i++) {
        const sent = `${++number}`;
        await ledger.append("ping" as SessionId, [sent]);
        const appended = clock.monotonic();
        const line = await echo.said((said) => said.startsWith(`saw ${sent} `));
        latencies.push(Number(line.split(" ")[2]) - appended);
      }
      return latencies.sort((a, b) => a - b)[297] as number;
    };
    const best = await beforeOthers([process.pid, echo.pid], async () => {
      let least = Number.POSITIVE_INFINITY;
      // A busy machine may spoil one measurement, hardly ten.
      for (let tries = 0; tries < 10 && least > 20; tries++) least = Math.min(least, await measure());
      return least;
    });
    expect(best).toBeLessThanOrEqual(20);
  });

  it("leaves two idle processes under one hundredth of a core each", async () => {
    const idlers = [await launch("idle", folder.path), await launch("idle", folder.path)];
    const spent = (): number[] => idlers.map((child) => cpuMs(child.pid));
    let shares = [1];
    // The first seconds of a process still pay for its start.
    for (let tries = 0; tries < 8 && Math.max(...shares) >= 0.01; tries++) shares = await shareOver(3_000, spent);
    expect(Math.max(...shares)).toBeLessThan(0.01);
  });
});

/** Lets processes run before others where that is allowed: what else the machine is busy with is not what is measured. */
async function beforeOthers<T>(pids: readonly number[], call: () => Promise<T>): Promise<T> {
  const set = (priority: number): void => {
    for (const pid of pids) {
      try {
        setPriority(pid, priority);
      } catch {
        // Only root may; without it the measurement is as good as the machine is quiet.
      }
    }
  };
  set(constants.priority.PRIORITY_HIGHEST);
  try {
    return await call();
  } finally {
    set(constants.priority.PRIORITY_NORMAL);
  }
}

/** User and system time of a process so far; the kernel counts it in hundredths of a second. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Share of a core that each used over at least `ms`. */
async function shareOver(ms: number, spent: () => number[]): Promise<number[]> {
  const before = spent();
  const start = clock.monotonic();
  await until(() => clock.monotonic() - start >= ms, { what: "the time over which the use is measured" });
  const passed = clock.monotonic() - start;
  return spent().map((after, i) => (after - (before[i] ?? 0)) / passed);
}
