/** Opening a SQLite file and naming what can go wrong with it. */
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** What SQLite's result codes mean for a caller. */
export type StorageFault = "busy" | "full" | "read_only" | "corrupt" | "sync_failed" | "unreachable";

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** Extended codes of IOERR: a flush that failed, after which nobody knows what the disk holds. */
const IOERR_FSYNC = 1034;
const IOERR_DIR_FSYNC = 1290;

/** The code that node:sqlite puts on what it throws; undefined for an error that is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code : undefined;
}

/** The fault behind an error of SQLite or of the file system; null for any other error, which is a bug and is thrown on. */
export function storageFault(error: unknown, file: string): StorageFault | null {
  const code = resultCode(error);
  if (code === undefined) return fileFault(error);
  if (code === IOERR_FSYNC || code === IOERR_DIR_FSYNC) return "sync_failed";
  switch (code & 0xff) {
    case BUSY: case LOCKED: return "busy";
    case FULL: return "full";
    case READONLY: return "read_only";
    case CORRUPT: case NOTADB: return "corrupt";
    case IOERR: return isDiskFull(file) ? "full" : "unreachable";
    case CANTOPEN: return cannotOpen(file);
    default: return null;
  }
}

function fileFault(error: unknown): StorageFault | null {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOSPC": case "EDQUOT": return "full";
    case "EROFS": case "EACCES": case "EPERM": return "read_only";
    case "ENOENT": case "ENOTDIR": case "EIO": case "EMFILE": case "ENFILE": case "EEXIST": case "EISDIR": return "unreachable";
    default: return null;
  }
}

/** SQLite says only that it could not open; the folder says why. */
function cannotOpen(file: string): StorageFault {
  const folder = dirname(file);
  if (!existsSync(folder)) return "unreachable";
  try {
    accessSync(folder, constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
  } catch {
    return "read_only";
  }
  return isDiskFull(file) ? "full" : "unreachable";
}

function isDiskFull(file: string): boolean {
  try {
    return statfsSync(dirname(file)).bavail === 0;
  } catch {
    return false;
  }
}

/** Rolls back what is open; SQLite has already done so after some errors. */
export function rollback(db: DatabaseSync): void {
  if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
}
