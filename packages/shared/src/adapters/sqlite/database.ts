/** Opening a SQLite file and naming what can go wrong with it. */
import { accessSync, constants, existsSync, rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** What SQLite's result codes mean for a caller. */
export type StorageFault = "busy" | "full" | "read_only" | "corrupt" | "sync_failed" | "unreachable";

const ERROR = 1;
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
    // All our statements fit the tables that we make: where one is missing, the file has been damaged.
    case ERROR: return /no such (table|column|index)/.test(String(error)) ? "corrupt" : null;
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

const BUSY_TRIES = 1_000;
const BUSY_PAUSE_MS = 5;

/** Runs a call that finds the file busy again, for about five seconds, without holding up the process. */
export async function patiently<T>(file: string, call: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return call();
    } catch (error) {
      if (tries === BUSY_TRIES || storageFault(error, file) !== "busy") throw error;
      await new Promise((done) => setTimeout(done, BUSY_PAUSE_MS));
    }
  }
}

/** Longest time that the opening of a file is tried again, in ms. */
const OPENING_MS = 5_000;

/**
 * Opens a file that other processes open, make or close at the same time, again and again for about five seconds. SQLite itself waits
 * for most locks, but not for the one under which another connection turns a new file into one with a write-ahead log: there it says
 * at once that the file is locked. Holds the process up, as every opening does.
 */
export function openPatiently<T>(file: string, open: () => T, pause: () => void = blockBriefly): T {
  const started = performance.now();
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (performance.now() - started > OPENING_MS || storageFault(error, file) !== "busy") throw error;
      pause();
    }
  }
}
function blockBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
}

/** A file whose content can be made anew is simply taken away, with its companions, where it is damaged. */
export function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
}
