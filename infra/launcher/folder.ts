/** The folder that the parts are given, looked at before anything is started or ended in it. */
import { accessSync, constants, existsSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@loopledger/shared/make-folder";
import { InfraError } from "./infra-error.ts";

/** Makes it where it is missing. Throws `invalid_folder` where it cannot be made, is something else, or may not be written. */
export function makePartsFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw invalid(folder, error);
  }
  refuseUnusable(folder);
}

/** Throws `invalid_folder` where something is there that is no folder, or one that this user may not write to, or, to look, not read. */
export function refuseUnusable(folder: string, { toLook = false }: { readonly toLook?: boolean } = {}): void {
  if (!existsSync(folder)) return;
  try {
    if (!statSync(folder).isDirectory()) throw new Error("it is no folder");
    accessSync(folder, constants.R_OK | constants.X_OK | (toLook ? 0 : constants.W_OK));
  } catch (error) {
    throw invalid(folder, error);
  }
}

/** What parts lay into their folder: their data, settings and logs, and the notes of what runs. */
const ofParts = /^(kafka-\d+|redis|registry|keeper|infra|ports)([.-].*)?$/;

/**
 * Removes what parts left there, and the folder where nothing else is in it; gives the names of what else is. Throws `invalid_purge`
 * where no part was ever started: that is somebody's folder, and its names prove nothing.
 */
export function purgePartsFolder(folder: string, isTheirs: boolean): readonly string[] {
  const names = readdirSync(folder);
  if (!isTheirs && names.length > 0) {
    throw new InfraError("invalid_purge", `${folder} is no folder in which \`infra up\` started anything, so nothing was removed.`, {
      next: "Name the folder that `infra up` was given with --dir, or leave it out: then it is `infra` in the data folder.",
    });
  }
  const others = names.filter((name) => !ofParts.test(name));
  for (const name of names) if (!others.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
  if (others.length === 0) rmdirSync(folder);
  return others;
}

function invalid(folder: string, error: unknown): InfraError {
  return new InfraError("invalid_folder", `Kafka, Redis and the registry cannot keep their data in ${folder}: ${error instanceof Error ? error.message : String(error)}.`, {
    next: "Name a folder that this user may write to with --dir, or leave it out: then it is `infra` in the data folder.",
  });
}
