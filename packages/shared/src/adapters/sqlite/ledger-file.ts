/**
 * The ledger's file: made whole or not at all, opened with the settings that durability needs, and looked at before use.
 *
 * L1. `ledger.db` appears under its name only when it is complete, so an empty or half file is damage and never a new ledger.
 * L2. Positions are dense from 1 and never reused; a position is a record's offset in its partition too.
 * L3. A ledger that ends before what its doorbell has announced has lost acknowledged records and is refused.
 */
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LoopledgerError } from "../../core/errors.ts";
import { ledgerKey } from "../../core/placement.ts";
import type { Clock, Ids } from "../../ports/index.ts";
import { carryOver } from "./carry-over.ts";
import { announced } from "./doorbell.ts";
import { ledgerError } from "./ledger-errors.ts";
import { positionTables } from "./position-lists.ts";

export interface LedgerFile {
  readonly path: string;
  readonly db: DatabaseSync;
  readonly ledgerId: string;
  readonly partitions: number;
  /** Its last position when it was opened. */
  readonly end: number;
  /** Which file this is, whatever its name is later. */
  readonly inode: bigint;
}

/** Of the tables; what a record looks like is told by the record. 1: an index on every record, written with it. 2: late lists. */
const FORMAT = 2;
/** What the records of a new ledger are said to be. */
const RECORDS = 1;
/** Marks the file as ours in its header ("loop" in ASCII). */
const APPLICATION_ID = 0x6c6f6f70;

interface CreateOptions {
  readonly folder: string;
  /** For a new ledger; one that exists keeps its own. */
  readonly partitions: number;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function openLedgerFile(options: CreateOptions): LedgerFile {
  const path = join(options.folder, "ledger.db");
  try {
    mkdirSync(options.folder, { recursive: true });
    if (!existsSync(path)) create(path, options);
    return open(path);
  } catch (error) {
    throw ledgerError(error, path);
  }
}

/** Two processes may do this at once: each makes a complete file, and the first link to the name wins. */
function create(path: string, { partitions, clock, ids }: CreateOptions): void {
  if (existsSync(`${path}-wal`) && !existsSync(path)) {
    throw new LoopledgerError("ledger_lost", `The ledger ${path} is gone and its write-ahead file is still there.`, {
      next: "Put ledger.db back beside its -wal file, or move both away to begin a new ledger.",
    });
  }
  const draft = `${path}.${ids.uuid()}.new`;
  try {
    const db = new DatabaseSync(draft);
    try {
      fill(db, { ledgerId: ids.uuid(), partitions, clock, ids });
    } finally {
      db.close();
    }
    flush(draft);
    try {
      linkSync(draft, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  flush(join(path, ".."));
}

function fill(db: DatabaseSync, start: { ledgerId: string; partitions: number; clock: Clock; ids: Ids }): void {
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${FORMAT};
    BEGIN;
    CREATE TABLE ledger(id TEXT NOT NULL, partitions INTEGER NOT NULL, listed INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE rec(pos INTEGER PRIMARY KEY, partition INTEGER NOT NULL, session TEXT NOT NULL, time INTEGER NOT NULL, value TEXT NOT NULL) STRICT;
    ${positionTables}`);
  db.prepare("INSERT INTO ledger(id, partitions) VALUES (?, ?)").run(start.ledgerId, start.partitions);
  const insert = db.prepare("INSERT INTO rec(pos, partition, session, time, value) VALUES (?, ?, ?, ?, ?)");
  const now = start.clock.now();
  for (let partition = 0; partition < start.partitions; partition++) {
    const key = ledgerKey(partition);
    insert.run(partition + 1, partition, key, now, JSON.stringify({
      v: 1, ledgerId: start.ledgerId, eventId: start.ids.uuid(), sessionId: key, type: "ledger_initialised", typeVersion: 1,
      at: new Date(now).toISOString(), actor: { kind: "store", id: "sqlite" },
      data: { ledgerId: start.ledgerId, partitions: start.partitions, format: RECORDS },
    }));
  }
  db.exec("COMMIT");
}

function flush(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function open(path: string): LedgerFile {
  const { ino } = statSync(path, { bigint: true });
  const db = new DatabaseSync(path, { timeout: 5_000 });
  try {
    // The write-ahead log is kept short: once round, it is written over what it has, and a flush of a file that does not grow takes half the time.
    db.exec("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=67108864;");
    const { ledgerId, partitions } = identify(db, path);
    const end = checkTail(db, path, ledgerId);
    // Nobody is kept waiting inside SQLite from here on: a busy ledger is tried again without holding up the process.
    db.exec("PRAGMA busy_timeout=0");
    return { path, db, ledgerId, partitions, end, inode: ino };
  } catch (error) {
    db.close();
    throw error;
  }
}

function identify(db: DatabaseSync, path: string): { ledgerId: string; partitions: number } {
  const application = db.prepare("PRAGMA application_id").get()?.["application_id"];
  const format = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (application !== APPLICATION_ID) throw new LoopledgerError("ledger_corrupt", `${path} is no ledger.`);
  if (format > FORMAT) throw new LoopledgerError("ledger_newer", `${path} has format ${format}; this release reads up to ${FORMAT}.`);
  if (format < FORMAT) carryOver(db, FORMAT);
  const row = db.prepare("SELECT id, partitions FROM ledger").get();
  if (row === undefined) throw new LoopledgerError("ledger_corrupt", `${path} does not say which ledger it is.`);
  return { ledgerId: String(row["id"]), partitions: Number(row["partitions"]) };
}

/** The bell is read first: it is rung after a commit, so what it says is in the file by then, however many others append meanwhile. */
function checkTail(db: DatabaseSync, path: string, ledgerId: string): number {
  const heard = announced(path, ledgerId);
  const last = Number(db.prepare("SELECT max(pos) AS pos FROM rec").get()?.["pos"] ?? 0);
  if (heard > last) {
    throw new LoopledgerError("ledger_lost", `${path} ends at ${last}, and ${heard} was acknowledged: ${heard - last} records are gone.`);
  }
  return last;
}

/** False where the ledger was deleted or replaced under a running process: others then write to another file. */
export function isSameFile(file: LedgerFile): boolean {
  try {
    return statSync(file.path, { bigint: true, throwIfNoEntry: false })?.ino === file.inode;
  } catch {
    return false;
  }
}
