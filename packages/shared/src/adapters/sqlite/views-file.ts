/**
 * The file of the read models. It is a cache of the ledger: written without a flush, thrown away where it is damaged.
 * Everything in it hangs from a projection, and a projection belongs to one ledger, so views of another are never read.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isLoopledgerError, LoopledgerError, messageOf } from "../../core/errors.ts";
import { openPatiently, removeDatabase, storageFault } from "./database.ts";

const FORMAT = 1;
const WAIT_MS = 5_000;

/** `pause`: what is done between two tries of a file that another process is just making. */
export function openViewsFile(folder: string, ledgerId: string, pause?: () => void): { readonly db: DatabaseSync; readonly path: string } {
  const path = join(folder, "views.db");
  try {
    mkdirSync(folder, { recursive: true });
    return { db: openPatiently(path, () => openDatabase(path, ledgerId), pause), path };
  } catch (error) {
    if (storageFault(error, path) !== "corrupt") throw viewsError(error, path);
  }
  removeDatabase(path);
  try {
    return { db: openPatiently(path, () => openDatabase(path, ledgerId), pause), path };
  } catch (error) {
    throw viewsError(error, path);
  }
}

/** The catalogue's error for a fault of the storage; anything else comes back as it is. */
export function viewsError(error: unknown, path: string): unknown {
  if (isLoopledgerError(error) || storageFault(error, path) === null) return error;
  return new LoopledgerError("views_unreachable", `The views in ${path} cannot be used: ${messageOf(error)}.`, { cause: error });
}

function openDatabase(path: string, ledgerId: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; BEGIN IMMEDIATE");
    const format = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (format > FORMAT) throw new LoopledgerError("views_newer", `${path} has format ${format}; this release reads up to ${FORMAT}.`);
    db.exec(schema);
    db.prepare("DELETE FROM projection WHERE ledger <> ?").run(ledgerId);
    db.prepare("DELETE FROM active WHERE ledger <> ?").run(ledgerId);
    // From here on a busy file is waited for without holding up the process.
    db.exec("COMMIT; PRAGMA busy_timeout=0");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const schema = `PRAGMA user_version=${FORMAT};
  CREATE TABLE IF NOT EXISTS projection(id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, name TEXT NOT NULL, UNIQUE(ledger, name)) STRICT;
  CREATE TABLE IF NOT EXISTS active(ledger TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS cursor(
    projection INTEGER NOT NULL REFERENCES projection(id) ON DELETE CASCADE, partition INTEGER NOT NULL, next INTEGER NOT NULL,
    PRIMARY KEY(projection, partition)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS view(
    id INTEGER PRIMARY KEY, projection INTEGER NOT NULL REFERENCES projection(id) ON DELETE CASCADE, session TEXT NOT NULL,
    disposition TEXT NOT NULL, at INTEGER NOT NULL, labels TEXT NOT NULL, document TEXT NOT NULL, snapshot TEXT,
    UNIQUE(projection, session)) STRICT;
  CREATE INDEX IF NOT EXISTS view_at ON view(projection, at, session);
  CREATE INDEX IF NOT EXISTS view_disposition ON view(projection, disposition, at, session);
  CREATE INDEX IF NOT EXISTS view_alive ON view(projection, session) WHERE snapshot IS NOT NULL;
  CREATE TABLE IF NOT EXISTS label(
    label TEXT NOT NULL, view INTEGER NOT NULL REFERENCES view(id) ON DELETE CASCADE, PRIMARY KEY(label, view)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS label_view ON label(view);`;
