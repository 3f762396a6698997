/** The folder that the parts are given, looked at before anything is started or ended in it. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
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

function invalid(folder: string, error: unknown): InfraError {
  return new InfraError("invalid_folder", `Kafka, Redis and the registry cannot keep their data in ${folder}: ${error instanceof Error ? error.message : String(error)}.`, {
    next: "Name a folder that this user may write to with --dir, or leave it out: then it is `infra` in the data folder.",
  });
}
