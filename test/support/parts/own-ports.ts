/**
 * Ports for parts of a test's own. One that was handed out once is handed out to nobody else of the same run, so that it is there
 * still when its part is started again after a kill, whatever the files beside it start meanwhile.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "@loopledger/infra/ports";
import { currentRun } from "./run.ts";

export async function ownPorts(count: number): Promise<number[]> {
  const taken = join(currentRun().folder, "ports");
  mkdirSync(taken, { recursive: true });
  const own: number[] = [];
  while (own.length < count) own.push(...(await freePorts(count - own.length)).filter((port) => take(join(taken, String(port)))));
  return own;
}

/** A folder is made once: whoever comes second is told. */
function take(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
