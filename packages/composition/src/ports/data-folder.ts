/**
 * The data folder, made before anything is written into it.
 *
 * It often lies in the workspace that is worked on, so it tells git to leave it alone before it holds the first record:
 * `git clean` and `git add -A` of a maker must not touch the ledger.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import { accessSync, constants, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder } from "@loopledger/shared/make-folder";
import { exitCodes } from "../exit-codes.ts";
import { Refusal } from "../refusals.ts";

/** The usual name is ours alone. Of a folder under another name only what this program puts there may be in it: else it is somebody's own, and its git settings are too. */
const usualName = ".loopledger";
const ours = /^(ledger\.(db|bell).*|liveness\.db.*|views\.db.*|peers|blobs|runs|commands|infra|dev\.json)$/;

/** Whether a ledger lies in the folder. Throws `data_folder_unusable` where that cannot be seen. */
export function hasLedger(folder: string): boolean {
  refuseNoFolder(folder);
  return existsSync(join(folder, "ledger.db")) || existsSync(join(folder, "ledger.db-wal"));
}

/**
 * Throws `data_folder_unusable` where the place of the folder, or one on the way to it, is something else, or may not be looked into:
 * that reads as nothing, and is a mistake.
 */
export function refuseNoFolder(folder: string): void {
  for (let at = folder; ; at = dirname(at)) {
    const found = lookAt(at, folder);
    if (found || dirname(at) === at) return;
  }
}
/** Whether it is there, and can be used as a folder. */
function lookAt(at: string, folder: string): boolean {
  try {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) throw new Error(`${at} is no folder`);
    if (found) accessSync(at, constants.X_OK);
    return found !== undefined;
  } catch (error) {
    throw unusable(folder, error, "used");
  }
}

/** What this program keeps in its data folder, one by one: the folder may be somebody's workspace. */
export function ownPlaces(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => ours.test(name)).map((name) => join(folder, name)) : [];
}

/** Makes the folder and what leads to it. Throws `data_folder_unusable` where that cannot be done; a file system that takes no folders is found out at once. */
export function makeDataFolder(folder: string): void {
  refuseNoFolder(folder);
  try {
    makeFolder(folder);
    if (!statSync(folder).isDirectory()) throw new Error("it is no folder");
    leaveOutOfGit(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
}

function leaveOutOfGit(folder: string): void {
  const names = readdirSync(folder);
  if (names.includes(".gitignore") || (basename(folder) !== usualName && !names.every((name) => ours.test(name)))) return;
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process was quicker; on a disk that takes no more, or from a folder that may only be read, the ledger says so itself.
    if (code !== "EEXIST" && code !== "ENOSPC" && code !== "EACCES" && code !== "EROFS") throw error;
  }
}

function unusable(folder: string, error: unknown, what: "made" | "used" = "made"): Refusal {
  const why = messageOf(error);
  return new Refusal("data_folder_unusable", `The data folder ${folder} cannot be ${what}: ${why}.`, {
    exitCode: exitCodes.unreachable, next: "Name another one with --data or LOOPLEDGER_DATA: any folder on a disk that this user may write to.",
  });
}
