import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { createMemoryLedger } from "@loopledger/shared/memory";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { until } from "../support/until.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const session = "heard" as SessionId;
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Opened { readonly ledger: Ledger; readonly told: unknown[] }
function sqlite(): Opened {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-listener-"));
  const told: unknown[] = [];
  const ledger = openSqliteLedger({ folder, clock, ids, log: (error) => told.push(error) });
  closing.push(() => rmSync(folder, { recursive: true, force: true }), () => ledger.close());
  return { ledger, told };
}
function memory(): Opened {
  return { ledger: createMemoryLedger({ clock, ids }).handle(), told: [] };
}
const everything = ({ partitions }: Ledger) => new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0 as Offset] as const));
const valuesOf = (entries: readonly LogEntry[]) => entries.filter((entry) => entry.key === session).map((entry) => entry.value);

describe.each([["memory", memory], ["SQLite", sqlite]] as const)("a listener of the ledger on %s", (_name, open) => {
  test("that throws is handed the same entries again before any later one; another is not disturbed", async () => {
    const { ledger } = open();
    const heard: (string | null)[] = [];
    const other: (string | null)[] = [];
    let faults = 0;
    const subscription = await ledger.subscribe(everything(ledger), (entries) => {
      if (valuesOf(entries).includes("2") && faults++ < 2) throw new Error("struck");
      heard.push(...valuesOf(entries));
    });
    await ledger.subscribe(everything(ledger), (entries) => other.push(...valuesOf(entries)));
    for (const value of ["1", "2", "3"]) await ledger.append(session, [value]);
    await until(() => faults > 0, { what: "the listener to fail" });
    for (const value of ["4", "5"]) await ledger.append(session, [value]);
    await until(() => other.length === 5, { what: "the other one to hear everything" });
    await subscription.caughtUp();
    expect(faults).toBeGreaterThan(2);
    expect([heard, other]).toEqual([["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5"]]);
  });

  test("that throws while it is behind goes on from there too", async () => {
    const { ledger } = open();
    for (const value of ["1", "2", "3"]) await ledger.append(session, [value]);
    const heard: (string | null)[] = [];
    let faults = 0;
    const subscription = await ledger.subscribe(everything(ledger), (entries) => {
      if (faults++ < 2) throw new Error("struck");
      heard.push(...valuesOf(entries));
    });
    await ledger.append(session, ["4"]);
    await subscription.caughtUp();
    expect(heard).toEqual(["1", "2", "3", "4"]);
  });

  test("does not keep its writer waiting, and who waits for it is let go when it is closed", async () => {
    const { ledger } = open();
    const subscription = await ledger.subscribe(everything(ledger), (entries) => {
      if (valuesOf(entries).length > 0) throw new Error("struck for good");
    });
    await subscription.caughtUp();
    await ledger.append(session, ["1"]);
    await ledger.append(session, ["2"]);
    const waiting = subscription.caughtUp();
    await subscription.close();
    await expect(waiting).rejects.toMatchObject({ code: "ledger_closed" });
  });
});

test("what a listener of the SQLite ledger throws is told", async () => {
  const { ledger, told } = sqlite();
  let faults = 0;
  await ledger.subscribe(everything(ledger), (entries) => {
    if (valuesOf(entries).length > 0 && faults++ === 0) throw new Error("struck");
  });
  await ledger.append(session, ["1"]);
  await until(() => faults > 1, { what: "it to be called again" });
  expect(told).toEqual([new Error("struck")]);
});
