/** What can happen to the files of a data folder, and what a caller is told: a code of the catalogue, and what to do next. */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Offset, OwnerId, SessionId } from "@loopledger/shared/core/brand";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import type { Ledger } from "@loopledger/shared/ports";
import { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { makeFolder } from "./folder.ts";
import { runAtOnce } from "./run-at-once.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const s = "s" as SessionId;
let folder: ReturnType<typeof makeFolder>;
let closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  for (const close of closers) await close();
  closers = [];
  folder.remove();
});

function open(path = folder.path, log?: (error: unknown) => void): Ledger {
  const ledger = openSqliteLedger({ folder: path, clock, ids, log });
  closers.push(ledger.close.bind(ledger));
  return ledger;
}
const file = (name: string): string => join(folder.path, name);
/** What opening throws. */
function refusal(call: () => unknown): LoopledgerError {
  try {
    call();
  } catch (error) {
    if (error instanceof LoopledgerError) return error;
    throw error;
  }
  throw new Error("It was opened.");
}
/** A ledger with `count` records, closed: all of it is in its one file. */
async function writeAndClose(count: number): Promise<string> {
  const ledger = openSqliteLedger({ folder: folder.path, clock, ids });
  for (let i = 0; i < count; i++) await ledger.append(s, [`${i}`.padStart(500, ".")]);
  await ledger.close();
  return ledger.ledgerId;
}

describe("a ledger's file that is not as it should be", () => {
  it.each([
    "ALTER TABLE ledger RENAME COLUMN partitions TO partitjons", "ALTER TABLE ledger DROP COLUMN listed", "DROP TABLE session_positions", "DROP TABLE partition_positions",
  ])("is refused as damaged where its tables are others than those that were made: %s", async (change) => {
    await writeAndClose(1);
    const db = new DatabaseSync(file("ledger.db"));
    db.exec(change);
    db.close();
    expect(refusal(open)).toMatchObject({ code: "ledger_corrupt", then: "stop" });
  });
  it("is refused as damaged where it is no database, empty, or no ledger", () => {
    for (const content of ["this is no database".repeat(100), ""]) {
      writeFileSync(file("ledger.db"), content);
      expect(refusal(open)).toMatchObject({ code: "ledger_corrupt", then: "stop" });
      rmSync(file("ledger.db"));
    }
    const other = new DatabaseSync(file("ledger.db"));
    other.exec("CREATE TABLE something(a)");
    other.close();
    expect(refusal(open)).toMatchObject({ code: "ledger_corrupt" });
  });

  it("is refused as damaged where it is cut short", async () => {
    await writeAndClose(200);
    truncateSync(file("ledger.db"), Math.floor(statSync(file("ledger.db")).size / 2));
    const error = refusal(open);
    expect([error.code, error.next]).toEqual(["ledger_corrupt", expect.stringContaining("restore")]);
  });

  it("is refused as damaged where its pages were overwritten, at the latest when they are read", async () => {
    await writeAndClose(200);
    const content = readFileSync(file("ledger.db"));
    writeFileSync(file("ledger.db"), content.fill(0xff, 4096 * 2));
    const reading = async (): Promise<unknown> => await open().readSession(s);
    await expect(reading()).rejects.toMatchObject({ code: "ledger_corrupt", then: "stop" });
  });

  it("is refused where a newer release wrote it", async () => {
    await writeAndClose(1);
    const db = new DatabaseSync(file("ledger.db"));
    db.exec("PRAGMA user_version = 3");
    db.close();
    expect(refusal(open)).toMatchObject({ code: "ledger_newer", next: expect.stringContaining("Upgrade") });
  });

  it("is refused where it has another number of partitions than was asked for", async () => {
    await writeAndClose(1);
    expect(refusal(() => openSqliteLedger({ folder: folder.path, partitions: 8, clock, ids }))).toMatchObject({ code: "ledger_mismatch" });
    expect(open().partitions).toBe(4);
  });
});

describe("a ledger that lost what it had acknowledged", () => {
  it("is refused where its last commits are gone with the write-ahead file", async () => {
    const ledger = open();
    await ledger.append(s, ["1"]);
    const before = readFileSync(file("ledger.db-wal"));
    await ledger.append(s, ["2", "3"]);
    // Copied as a crash would leave it, with the older write-ahead file beside it.
    const copy = join(folder.path, "copy");
    mkdirSync(copy);
    writeFileSync(join(copy, "ledger.db"), readFileSync(file("ledger.db")));
    writeFileSync(join(copy, "ledger.db-wal"), before);
    await ledger.close();
    writeFileSync(join(copy, "ledger.bell"), readFileSync(file("ledger.bell")));
    const error = refusal(() => open(copy));
    expect(error).toMatchObject({ code: "ledger_lost", then: "stop" });
    expect(error.message).toContain("2 records are gone");
  });

  it("is refused where ledger.db is gone and its write-ahead file is not", async () => {
    const ledger = open();
    await ledger.append(s, ["1"]);
    renameSync(file("ledger.db"), file("moved.db"));
    expect(refusal(() => open())).toMatchObject({ code: "ledger_lost", next: expect.stringContaining("ledger.db back") });
  });

  it("is not written to by a process that has read more of it than there is now", async () => {
    const ledger = open();
    const subscription = await ledger.subscribe(await ledger.end(), () => {});
    await ledger.append(s, ["1", "2", "3"]);
    await subscription.caughtUp();
    const db = new DatabaseSync(file("ledger.db"));
    db.exec("DELETE FROM rec WHERE value = '3'");
    db.close();
    await expect(ledger.append(s, ["4"])).rejects.toMatchObject({ code: "ledger_lost", then: "stop" });
    await expect(ledger.append(s, ["4"])).rejects.toMatchObject({ code: "ledger_lost" });
    await ledger.close();
    expect(refusal(() => open())).toMatchObject({ code: "ledger_lost" });
  });

  it("is noticed by a reader whose position is after the end", async () => {
    const ledger = open();
    await expect(ledger.subscribe(new Map([[0, 1_000 as Offset]]), () => {})).rejects.toMatchObject({ code: "ledger_lost" });
  });
});

describe("a ledger that was deleted or replaced", () => {
  it("is another ledger when it is made anew, and starts with no views", async () => {
    const first = await writeAndClose(3);
    const views = openSqliteReadModel({ folder: folder.path, ledgerId: first });
    await views.write("main", { partition: 0, from: 0 as Offset, to: 9 as Offset, views: [] });
    await views.close();
    rmSync(file("ledger.db"));
    const ledger = open();
    expect(ledger.ledgerId).not.toBe(first);
    expect(await ledger.readSession(s)).toEqual([]);
    const fresh = openSqliteReadModel({ folder: folder.path, ledgerId: ledger.ledgerId });
    closers.push(fresh.close);
    expect(await fresh.cursors("main")).toEqual(new Map());
    // Nothing is kept of the views of a ledger that is no more.
    const former = openSqliteReadModel({ folder: folder.path, ledgerId: first });
    closers.push(former.close);
    expect(await former.cursors("main")).toEqual(new Map());
  });

  it("stops a process that still has the old one open", async () => {
    const told: unknown[] = [];
    const ledger = open(folder.path, (error) => told.push(error));
    await ledger.append(s, ["1"]);
    for (const name of ["ledger.db", "ledger.db-wal", "ledger.db-shm"]) rmSync(file(name));
    await until(() => told.length > 0, { what: "the process to look at its file" });
    expect(told).toMatchObject([{ code: "ledger_mismatch", then: "stop" }]);
    await expect(ledger.append(s, ["2"])).rejects.toMatchObject({ code: "ledger_mismatch" });
    await expect(ledger.end()).rejects.toMatchObject({ code: "ledger_mismatch" });
  });
});

describe("a new ledger", () => {
  it("appears whole: nothing but finished files is left beside it", async () => {
    await writeAndClose(1);
    expect(readdirSync(folder.path).sort()).toEqual(["ledger.bell", "ledger.db", "peers"]);
    expect(readdirSync(file("peers"))).toEqual([]);
  });

  it("is one ledger for processes that make it at the same moment", async () => {
    const program = `import { openSqliteLedger } from "@loopledger/shared/sqlite";
      import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
      const ledger = openSqliteLedger({ folder: process.argv[1], clock: createSystemClock(), ids: createSystemIds() });
      await ledger.append("made", [ledger.ledgerId]);
      await ledger.close();`;
    await runAtOnce(4, ["--input-type=module-typescript", "-e", program, folder.path]);
    const ledger = open();
    const made = await ledger.readSession("made" as SessionId);
    expect(made.map((entry) => entry.value)).toEqual(Array(4).fill(ledger.ledgerId));
    expect(readdirSync(folder.path).filter((name) => name.endsWith(".new"))).toEqual([]);
  });
});

describe("views and leases that are damaged", () => {
  it("are made anew, because the ledger has everything", async () => {
    writeFileSync(file("views.db"), "no database".repeat(1_000));
    const views = openSqliteReadModel({ folder: folder.path, ledgerId: "l" });
    closers.push(views.close);
    expect(await views.write("main", { partition: 0, from: 0 as Offset, to: 1 as Offset, views: [] })).toBe(true);

    writeFileSync(file("liveness.db"), "no database".repeat(1_000));
    const ownership = openSqliteOwnership({ folder: folder.path, clock });
    closers.push(ownership.close);
    const lease = await ownership.register("a" as OwnerId, 60_000);
    // The first request finds the damage and throws the file away, the next one finds a new one.
    expect(lease.valid() || (await lease.renew())).toBe(true);
    expect(await ownership.holder("a" as OwnerId)).toBe("live");
  });

  it("are refused where a newer release wrote the views", () => {
    const db = new DatabaseSync(file("views.db"));
    db.exec("PRAGMA user_version = 99");
    db.close();
    expect(refusal(() => openSqliteReadModel({ folder: folder.path, ledgerId: "l" }))).toMatchObject({ code: "views_newer" });
  });

  it("answer as unreachable where the folder is a file", async () => {
    appendFileSync(file("folder"), "x");
    const ownership = openSqliteOwnership({ folder: file("folder"), clock });
    const lease = await ownership.register("a" as OwnerId, 60_000);
    expect([lease.valid(), await ownership.holder("a" as OwnerId)]).toEqual([false, "unreachable"]);
    expect(refusal(() => openSqliteReadModel({ folder: file("folder"), ledgerId: "l" }))).toMatchObject({ code: "views_unreachable", then: "retry" });
    expect(refusal(() => open(file("folder")))).toMatchObject({ code: "ledger_unreachable", then: "retry" });
  });
});

/** A small file system of its own can only be made by root; elsewhere these two cases are left to the machines where tests run as root. */
const isRoot = process.getuid?.() === 0;

if (isRoot) describe("a data folder on a small file system", () => {
  let mounted: string;
  beforeEach(() => {
    mounted = file("small");
    mkdirSync(mounted);
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", mounted);
  });
  afterEach(async () => {
    for (const close of closers) await close();
    closers = [];
    expect(spawnSync("umount", [mounted]).status).toBe(0);
  });

  it("refuses appends while it is full, keeps what it had acknowledged, and goes on when there is space", async () => {
    const ledger = open(mounted);
    const ballast = join(mounted, "ballast");
    writeFileSync(ballast, Buffer.alloc(300_000));
    const kept: string[] = [];
    const append = async (): Promise<void> => {
      const text = `${kept.length}`.padStart(5_000, ".");
      await ledger.append(s, [text, text]);
      kept.push(text, text);
    };
    const fill = async (): Promise<void> => {
      for (;;) await append();
    };
    await expect(fill()).rejects.toMatchObject({ code: "ledger_full", then: "retry" });
    const stands = async (one: Ledger): Promise<unknown> => (await one.readSession(s)).map((entry) => entry.value);
    expect(kept.length).toBeGreaterThan(10);
    expect(await stands(ledger)).toEqual(kept);
    await expect(append()).rejects.toMatchObject({ code: "ledger_full" });
    rmSync(ballast);
    await append();
    expect(await stands(ledger)).toEqual(kept);
    expect(await stands(open(mounted))).toEqual(kept);
  });

  it("says that it cannot be written where it is read-only", async () => {
    const made = openSqliteLedger({ folder: mounted, clock, ids });
    await made.append(s, ["1"]);
    await made.close();
    mount("-o", "remount,ro", mounted);
    expect(refusal(() => open(mounted))).toMatchObject({ code: "ledger_read_only", then: "stop" });
    mount("-o", "remount,rw", mounted);
    expect(await open(mounted).readSession(s)).toHaveLength(1);
  });
});

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  expect(existsSync(args.at(-1) ?? "")).toBe(true);
}
