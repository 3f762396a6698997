/**
 * The file of the leases, apart from the ledger so that a renewal flushes nothing. It may be lost at any time: then every
 * lease is gone, which costs time and no safety. A damaged file is thrown away; one that does not answer is tried again.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { removeDatabase, storageFault } from "./database.ts";

export interface LivenessFile {
  /** Runs one statement; null where the file does not answer. */
  run<T>(call: (statements: LivenessStatements) => T): T | null;
  close(): void;
}
export interface LivenessStatements {
  readonly register: StatementSync;
  readonly renew: StatementSync;
  readonly release: StatementSync;
  readonly holder: StatementSync;
  readonly take: StatementSync;
  readonly sweepTaken: StatementSync;
  readonly sweepOwners: StatementSync;
  readonly join: StatementSync;
  readonly leave: StatementSync;
  readonly members: StatementSync;
  readonly sweepMembers: StatementSync;
}

/** Longest time that a call may hold the process up. */
const WAIT_MS = 100;

/**
 * `expires` is on the host's monotonic clock. After a restart of the machine that clock begins again, so what lies
 * further ahead than its own ttl belongs to another boot and counts as over.
 */
const over = "(expires <= :now OR expires > :now + ttl)";

export function openLivenessFile(path: string): LivenessFile {
  let opened: { readonly db: DatabaseSync; readonly statements: LivenessStatements } | null = null;
  let closed = false;
  const drop = (error: unknown): void => {
    const fault = storageFault(error, path);
    if (fault === "busy") return;
    opened?.db.close();
    opened = null;
    if (fault === "corrupt") removeDatabase(path);
  };
  return {
    run: (call) => {
      if (closed) return null;
      try {
        opened ??= openDatabase(path);
        return call(opened.statements);
      } catch (error) {
        if (storageFault(error, path) === null) throw error;
        drop(error);
        return null;
      }
    },
    close: () => {
      closed = true;
      opened?.db.close();
      opened = null;
    },
  };
}

function openDatabase(path: string): { db: DatabaseSync; statements: LivenessStatements } {
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;
      CREATE TABLE IF NOT EXISTS liveness(owner TEXT PRIMARY KEY, expires REAL NOT NULL, ttl REAL NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS taken(resource TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL, ttl REAL NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS members(member_of TEXT NOT NULL, owner TEXT NOT NULL, expires REAL NOT NULL, ttl REAL NOT NULL, PRIMARY KEY(member_of, owner)) STRICT, WITHOUT ROWID;`);
    return { db, statements: prepare(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepare(db: DatabaseSync): LivenessStatements {
  return {
    register: db.prepare("INSERT OR REPLACE INTO liveness(owner, expires, ttl) VALUES (:owner, :expires, :ttl)"),
    renew: db.prepare(`UPDATE liveness SET expires = :expires WHERE owner = :owner AND NOT ${over}`),
    release: db.prepare("DELETE FROM liveness WHERE owner = :owner"),
    holder: db.prepare(`SELECT 1 FROM liveness WHERE owner = :owner AND NOT ${over}`),
    take: db.prepare(`INSERT INTO taken(resource, owner, expires, ttl) VALUES (:resource, :owner, :expires, :ttl)
      ON CONFLICT(resource) DO UPDATE SET owner = excluded.owner, expires = excluded.expires, ttl = excluded.ttl
      WHERE taken.owner = excluded.owner OR ${over.replaceAll("expires", "taken.expires").replaceAll("ttl", "taken.ttl")}`),
    sweepTaken: db.prepare(`DELETE FROM taken WHERE ${over}`),
    sweepOwners: db.prepare(`DELETE FROM liveness WHERE ${over}`),
    join: db.prepare("INSERT OR REPLACE INTO members(member_of, owner, expires, ttl) VALUES (:member_of, :owner, :expires, :ttl)"),
    leave: db.prepare("DELETE FROM members WHERE member_of = :member_of AND owner = :owner"),
    members: db.prepare(`SELECT owner FROM members WHERE member_of = :member_of AND NOT ${over} ORDER BY owner`),
    sweepMembers: db.prepare(`DELETE FROM members WHERE ${over}`),
  };
}
