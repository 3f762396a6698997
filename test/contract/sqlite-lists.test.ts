/** The late lists of positions on real files and in real processes: written while others read, killed half way, carried over from format 1. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SessionId } from "@loopledger/shared/core/brand";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { openSqliteLedger } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Child, startChild } from "./child.ts";
import { makeFolder } from "./folder.ts";
import { runAtOnce } from "./run-at-once.ts";

const clock = createSystemClock();
const ids = createSystemIds();
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

function open(): Ledger {
  const ledger = openSqliteLedger({ folder: folder.path, clock, ids });
  ledgers.push(ledger);
  return ledger;
}
/** Looks at the file beside the ledger. */
function inFile<T>(look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder.path, "ledger.db"), { timeout: 10_000 });
  try {
    return look(db);
  } finally {
    db.close();
  }
}
const numberOf = (sql: string): number => inFile((db) => Number(Object.values(db.prepare(sql).get() ?? {})[0]));
const watermark = (): number => numberOf("SELECT listed FROM ledger");
const formatOfFile = (): number => numberOf("PRAGMA user_version");
/** What a look through all records finds. */
const scan = (where = "TRUE"): LogEntry[] =>
  inFile((db) => db.prepare(`SELECT partition, pos AS offset, time, session AS key, value FROM rec NOT INDEXED WHERE ${where} ORDER BY pos`).all()
    .map((row) => ({ ...row }) as unknown as LogEntry));

/** Every session, every partition and the ends, by the port, against a look through all records. */
async function checkAll(ledger: Ledger): Promise<void> {
  const all = scan();
  const ends = await ledger.end();
  for (const key of new Set(all.map((entry) => entry.key))) {
    expect(await ledger.readSession(key as SessionId)).toEqual(all.filter((entry) => entry.key === key));
  }
  for (const [partition, end] of ends) {
    const own = all.filter((entry) => entry.partition === partition);
    expect(end).toBe((own.at(-1)?.offset ?? 0) + 1);
    const read: LogEntry[] = [];
    for (let more = true; more; ) {
      const entries = await ledger.read(partition, ((read.at(-1)?.offset ?? -1) + 1) as LogEntry["offset"], 700);
      read.push(...entries);
      more = entries.length > 0;
    }
    expect(read).toEqual(own);
  }
  expect(inFile((db) => db.prepare("PRAGMA integrity_check").get())).toEqual({ integrity_check: "ok" });
}

async function fill(ledger: Ledger, records: number): Promise<void> {
  for (let number = 0; number < records; number += 500) {
    await Promise.all(Array.from({ length: 50 }, (_, session) =>
      ledger.append(`s-${session}` as SessionId, Array.from({ length: 10 }, (_, i) => `${number}/${i}`))));
  }
}

/** The file as the release wrote it that kept two indexes. */
function makeFormat1(): void {
  inFile((db) => db.exec(`BEGIN; DROP TABLE session_positions; DROP TABLE partition_positions; ALTER TABLE ledger DROP COLUMN listed;
    CREATE INDEX rec_session ON rec(session); CREATE INDEX rec_partition ON rec(partition); PRAGMA user_version = 1; COMMIT`));
}
async function makeFormat1Ledger(records: number): Promise<void> {
  const ledger = openSqliteLedger({ folder: folder.path, clock, ids });
  await fill(ledger, records);
  await ledger.close();
  makeFormat1();
}
/** Runs until it kills itself right before such a statement. */
function runToItsDeath(statement: string, records: number): string {
  const { signal, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "../support/dying-ledger.ts"), folder.path, statement, `${records}`], {
    encoding: "utf8", stdio: ["ignore", "pipe", "inherit"],
  });
  expect(signal).toBe("SIGKILL");
  return stdout;
}

describe("the lists of positions of a SQLite ledger", () => {
  it("are written by other processes while one reads, and no read misses a record or gives one twice", async () => {
    const reader = open();
    for (const name of ["a", "b"]) children.push(await startChild("write", folder.path, name, "60"));
    const counts = new Map<string, number>();
    let end = 0;
    for (let passes = 0, last = 0; passes < 3; ) {
      for (const name of ["a", "b"]) {
        for (let writer = 0; writer < 60; writer += 7) {
          const key = `${name}-${writer}`;
          const entries = await reader.readSession(key as SessionId);
          expect(entries.map((entry) => entry.value)).toEqual(entries.map((_, i) => `${Math.floor(i / 3) + 1}/${(i % 3) + 1}`));
          expect(entries.length).toBeGreaterThanOrEqual(counts.get(key) ?? 0);
          counts.set(key, entries.length);
        }
      }
      const next = Math.max(...(await reader.end()).values());
      expect(next).toBeGreaterThanOrEqual(end);
      end = next;
      const now = watermark();
      if (now > last) passes++;
      last = now;
    }
    await Promise.all(children.map((child) => child.kill("SIGKILL")));
    await checkAll(reader);
    await checkAll(open());
  });

  it.each(["INSERT INTO partition_positions", "UPDATE ledger SET listed"])("are not there, nor is the append, when their writer is killed right before %s", async (statement) => {
    const said = runToItsDeath(statement, 10_000);
    expect([watermark(), numberOf("SELECT count(*) FROM session_positions")]).toEqual([0, 0]);
    // What it was told is on the ledger, and of what was under way nothing.
    expect(numberOf("SELECT count(*) FROM rec WHERE session LIKE 's-%'")).toBe((said.split("acked ").length - 1) * 500);
    const ledger = open();
    await checkAll(ledger);
    await fill(ledger, 1_000);
    expect(watermark()).toBeGreaterThan(2_000);
    await checkAll(ledger);
  });

  it("are written by whoever appends next, and what an older release appends without them is found all the same", async () => {
    const ledger = open();
    await fill(ledger, 5_000);
    expect(watermark()).toBeGreaterThan(2_000);
    inFile((db) => db.exec(`BEGIN IMMEDIATE; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO rec SELECT (SELECT max(pos) FROM rec) + i, 1, 'older-' || (i % 9), (SELECT max(time) FROM rec), i FROM n; COMMIT`));
    expect(await ledger.readSession("older-3" as SessionId)).toEqual(scan("session = 'older-3'"));
    await checkAll(open());
    await ledger.append("s-1" as SessionId, ["more"]);
    await ledger.append("s-1" as SessionId, ["more"]);
    expect(watermark()).toBeGreaterThan(20_000);
    await checkAll(ledger);
  });
});

describe("a ledger of format 1", () => {
  it("is carried over when it is opened, with everything that it held", async () => {
    await makeFormat1Ledger(20_000);
    const before = scan();
    const ledger = open();
    expect([formatOfFile(), watermark()]).toEqual([2, before.length]);
    expect(numberOf("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")).toBe(0);
    expect(scan()).toEqual(before);
    await checkAll(ledger);
    await fill(ledger, 5_000);
    await checkAll(ledger);
  });

  it("is carried over once by processes that open it at the same moment, and each of them goes on with it", async () => {
    await makeFormat1Ledger(20_000);
    const program = `import { openSqliteLedger } from "@loopledger/shared/sqlite";
      import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
      const ledger = openSqliteLedger({ folder: process.argv[1], clock: createSystemClock(), ids: createSystemIds() });
      const read = await ledger.readSession("s-1");
      if (read.length !== 400) throw new Error("It read " + read.length);
      await ledger.append("opened", [ledger.ledgerId]);
      await ledger.close();`;
    await runAtOnce(4, ["--input-type=module-typescript", "-e", program, folder.path]);
    const ledger = open();
    expect((await ledger.readSession("opened" as SessionId)).map((entry) => entry.value)).toEqual(Array(4).fill(ledger.ledgerId));
    await checkAll(ledger);
  });

  it("is as it was when the process that carries it over is killed half way, and carried over by the next", async () => {
    await makeFormat1Ledger(20_000);
    const before = scan();
    for (const statement of ["INSERT INTO session_positions", "INSERT INTO partition_positions", "UPDATE ledger SET listed"]) {
      runToItsDeath(statement, 0);
      expect(formatOfFile()).toBe(1);
      expect(numberOf("SELECT count(*) FROM sqlite_schema WHERE name IN ('rec_session', 'rec_partition')")).toBe(2);
      expect(numberOf("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%positions'")).toBe(0);
      expect(scan()).toEqual(before);
    }
    await checkAll(open());
    expect(formatOfFile()).toBe(2);
  });
});
