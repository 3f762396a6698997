import { hash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Clock, Ids, LogEntry } from "../../ports/index.ts";
import { createCommitWriter } from "./commit-writer.ts";
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts";
import { createLedgerRows } from "./ledger-rows.ts";
import { RecentPositions, type RecentSizes } from "./recent-positions.ts";
import { Tail } from "./tail.ts";

const clock: Clock = { now: () => 1_000, monotonic: () => 0, after: () => () => {} };
const ids: Ids = { uuid: () => randomUUID(), random: () => 0, sha256: (text) => hash("sha256", text) };
const partitions = 3;
const everywhere = new Set(Array.from({ length: partitions }, (_, partition) => partition));

/** The parts of a process's ledger, without the bell that would wake it. */
function openProcess(folder: string, { sizes, hasReader }: { readonly sizes: RecentSizes; readonly hasReader: boolean }) {
  const file = openLedgerFile({ folder, partitions, clock, ids });
  file.db.exec("PRAGMA synchronous=OFF");
  const recent = new RecentPositions(file, sizes);
  const rows = createLedgerRows(file, recent);
  const failed = (error: unknown): void => {
    throw error;
  };
  const tail = new Tail({ rows, start: file.end, isBusy: () => false, failed, seen: (entries) => recent.add(entries) });
  if (hasReader) tail.join({ partitions: everywhere, deliver: () => {} });
  const write = createCommitWriter({ file, clock, recent, delivered: () => tail.delivered });
  return { file, recent, rows, tail, write };
}
type Process = ReturnType<typeof openProcess>;

/** What a look through all records finds: the answer that every other way has to give. */
const scan = ({ db }: LedgerFile, where: string, ...values: readonly number[] | readonly [string, number]): LogEntry[] =>
  db.prepare(`SELECT partition, pos AS offset, time, session AS key, value FROM rec NOT INDEXED WHERE ${where} ORDER BY pos`)
    .all(...values).map((row) => ({ ...row }) as unknown as LogEntry);

function checkReads({ file, rows }: Process, { session, from, limit }: { readonly session: string; readonly from: number; readonly limit: number }): void {
  expect(rows.ofSession(session, from)).toEqual(scan(file, "session = ? AND pos >= ?", session, from));
  for (const partition of everywhere) {
    const all = scan(file, "partition = ? AND pos >= ?", partition, from);
    expect(rows.ofPartition(partition, { from, to: Number.MAX_SAFE_INTEGER, limit })).toEqual(all.slice(0, limit));
    const to = from + limit;
    expect(rows.ofPartition(partition, { from, to, limit: 1_000 })).toEqual(all.filter((entry) => entry.offset <= to));
    expect(rows.ends().get(partition)).toBe((scan(file, "partition = ?", partition).at(-1)?.offset ?? 0) + 1);
  }
}

const one = fc.record({
  process: fc.nat(2),
  act: fc.constantFrom("write", "write", "write", "look", "read", "read", "outsider", "reopen"),
  session: fc.integer({ min: 0, max: 5 }).map((number) => `s${number}`),
  count: fc.integer({ min: 1, max: 9 }),
  from: fc.nat(60),
});
const sizesOf = fc.record({ listedAfter: fc.integer({ min: 1, max: 12 }), lookedThrough: fc.nat(6), keptMax: fc.integer({ min: 12, max: 40 }) });

it("finds a session's and a partition's records, and the ends, as a look through all records does, wherever the watermark is", () => {
  let moved = 0;
  fc.assert(fc.property(fc.array(one, { minLength: 5, maxLength: 40 }), sizesOf, (acts, sizes) => {
    const folder = mkdtempSync(join(tmpdir(), "loopledger-positions-"));
    const open = (number: number): Process => openProcess(folder, { sizes, hasReader: number > 0 });
    const processes = [open(0), open(1), open(2)];
    try {
      for (const { process, act, session, count, from } of acts) {
        const chosen = processes[process] as Process;
        const values = Array.from({ length: count }, (_, i) => `${i}`);
        if (act === "write") chosen.tail.own(chosen.write([{ key: session, values }, { key: `${session}-too`, values: ["x"] }]));
        if (act === "look") chosen.tail.look();
        // An older release that still has the ledger open writes records and nothing else.
        if (act === "outsider") chosen.file.db.prepare("INSERT INTO rec SELECT max(pos) + 1, 1, ?, max(time), 'theirs' FROM rec").run(session);
        if (act === "reopen") {
          chosen.file.db.close();
          processes[process] = open(process);
        }
        if (act === "read") checkReads(chosen, { session, from, limit: count });
      }
      for (const each of processes) checkReads(each, { session: "s0", from: 0, limit: 7 });
      if (Number(processes[0]?.file.db.prepare("SELECT listed FROM ledger").get()?.["listed"]) > 0) moved++;
    } finally {
      for (const { file } of processes) file.db.close();
      rmSync(folder, { recursive: true });
    }
  }), { numRuns: 60 });
  // The watermark was somewhere in most of them.
  expect(moved).toBeGreaterThan(20);
});

it("keeps no more positions than it may, whatever another process leaves behind the watermark", () => {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-positions-"));
  const sizes = { listedAfter: 10, lookedThrough: 2, keptMax: 20 };
  const reader = openProcess(folder, { sizes, hasReader: true });
  const kept = (): number => [...everywhere].reduce((sum, partition) => sum + reader.recent.ofPartition(partition).length, 0);
  try {
    const insert = reader.file.db.prepare("INSERT INTO rec SELECT max(pos) + 1, 1, ?, max(time), 'theirs' FROM rec");
    for (let i = 0; i < 100; i++) {
      insert.run(`s${i % 7}`);
      reader.tail.look();
      if (i % 5 === 0) checkReads(reader, { session: "s3", from: 0, limit: 4 });
      expect(kept()).toBeLessThanOrEqual(20);
    }
    // The next append writes the lists of as much as may be kept at a time, until none is due.
    for (let i = 0; i < 6; i++) reader.tail.own(reader.write([{ key: "s3", values: ["ours"] }]));
    checkReads(reader, { session: "s3", from: 0, limit: 4 });
    expect(reader.file.db.prepare("SELECT (SELECT max(pos) FROM rec) - listed AS behind FROM ledger").get()).toMatchObject({ behind: expect.toSatisfy((behind: number) => behind < 10) });
  } finally {
    reader.file.db.close();
    rmSync(folder, { recursive: true });
  }
});

it("leaves the lists as they were where the transaction that wrote them failed", () => {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-positions-"));
  const process = openProcess(folder, { sizes: { listedAfter: 8, lookedThrough: 2, keptMax: 40 }, hasReader: true });
  const { file, tail, write } = process;
  const batch = [{ key: "s1", values: ["1", "2", "3"] }];
  try {
    tail.own(write(batch));
    tail.own(write(batch));
    file.db.exec("CREATE TEMP TRIGGER refused BEFORE INSERT ON rec BEGIN SELECT RAISE(ABORT, 'refused'); END");
    expect(() => write(batch)).toThrow("refused");
    expect(file.db.prepare("SELECT listed FROM ledger").get()).toMatchObject({ listed: 0 });
    checkReads(process, { session: "s1", from: 0, limit: 4 });
    file.db.exec("DROP TRIGGER refused");
    tail.own(write(batch));
    expect(file.db.prepare("SELECT listed FROM ledger").get()).toMatchObject({ listed: 9 });
    checkReads(process, { session: "s1", from: 0, limit: 4 });
  } finally {
    file.db.close();
    rmSync(folder, { recursive: true });
  }
});
