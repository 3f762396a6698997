/** A process that lives beside the parts of a test run and ends them when that run has ended, however it ended. */
import { join } from "node:path";
import type { Variables } from "./java.ts";
import { startDetached } from "./part-process.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export function startKeeper(folder: string, owner: ProcessIdentity, variables: Variables): Promise<ProcessIdentity> {
  return startDetached({
    program: process.execPath, args: [join(import.meta.dirname, "keeper.ts"), folder, String(owner.pid), owner.start],
    folder, variables, log: join(folder, "keeper.log"),
  });
}
