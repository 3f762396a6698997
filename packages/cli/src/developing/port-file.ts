/** Which `dev` serves a data folder: a note in the folder, so that a second one can say who has the port. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaimHost } from "@loopledger/shared/core/events/claimed";
import type { Host } from "@loopledger/shared/ports";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

const nameOf = (dataFolder: string): string => join(dataFolder, "dev.json");

export function announcePort(dataFolder: string, served: { readonly port: number; readonly self: ClaimHost }): void {
  writeFileSync(nameOf(dataFolder), `${JSON.stringify(served)}\n`);
}

/** The refusal where a live `dev` on the same folder has the port; null where somebody else has it. */
export function otherDev(dataFolder: string, { port, host }: { readonly port: number; readonly host: Host }): CliError | null {
  const served = read(dataFolder);
  if (!served || served.port !== port || host.look(served.self) !== "alive") return null;
  return new CliError("dev_running", `Another loopledger dev (process ${served.self.pid}) works on ${dataFolder} already, with its API on port ${port}.`, {
    exitCode: exitCodes.failed, next: "Look at it there, stop it first, or start this one beside it with --port 0.",
  });
}

function read(dataFolder: string): { readonly port: number; readonly self: ClaimHost } | null {
  try {
    return JSON.parse(readFileSync(nameOf(dataFolder), "utf8")) as { port: number; self: ClaimHost };
  } catch {
    return null;
  }
}
