/** A ledger of an earlier release becomes one of this release: in one transaction, so that a kill leaves it as it was or as it is to be. */
import type { DatabaseSync } from "node:sqlite";
import { rollback } from "./database.ts";
import { listAll, positionTables } from "./position-lists.ts";

/** Longest wait for another process that does the same; a million records take it some seconds. */
const WAIT_MS = 120_000;

/**
 * From format 1, whose records stood in two indexes besides. A process of that release that still has the ledger open goes on: what it
 * appends lies behind the watermark like anybody's, and its own reads, which have no index any more, look through the whole ledger.
 */
export function carryOver(db: DatabaseSync, format: number): void {
  const busyMs = db.prepare("PRAGMA busy_timeout").get()?.["timeout"];
  db.exec(`PRAGMA busy_timeout=${WAIT_MS}; BEGIN IMMEDIATE`);
  try {
    // Whoever was first has done it.
    if (Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) < format) {
      db.exec(`DROP INDEX rec_session; DROP INDEX rec_partition; ALTER TABLE ledger ADD COLUMN listed INTEGER NOT NULL DEFAULT 0; ${positionTables}`);
      listAll(db);
      db.exec(`PRAGMA user_version=${format}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    rollback(db);
    throw error;
  }
  db.exec(`PRAGMA busy_timeout=${Number(busyMs)}`);
}
