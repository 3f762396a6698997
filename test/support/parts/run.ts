/**
 * The one set of local parts of a test run. The run is the process that vitest itself is: its workers find its folder by
 * environment, the first test that needs a part brings it up there, and whatever came up ends with the run, also with one
 * that is killed.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { identify, type ProcessIdentity } from "@loopledger/infra/process-identity";

export const folderOfRuns = resolve(import.meta.dirname, "..", "..", "..", ".cache", "parts");
export const variable = "LOOPLEDGER_TEST_RUN";

export interface TestRun {
  readonly folder: string;
  readonly owner: ProcessIdentity;
}

export function runOf(pid: number): TestRun {
  const owner = identify(pid);
  if (owner === null) throw new Error(`There is no process ${pid}.`);
  return { owner, folder: join(folderOfRuns, `${pid}-${owner.start.split("/").at(-1)?.replace(/\W+/g, "-") ?? ""}`) };
}

/** The run that this process belongs to; a process outside a run is one of its own. */
export function currentRun(): TestRun {
  const named = process.env[variable];
  const run = named === undefined ? runOf(process.pid) : (JSON.parse(named) as TestRun);
  if (!existsSync(join(run.folder, "run.json"))) {
    mkdirSync(run.folder, { recursive: true });
    writeFileSync(join(run.folder, "run.json"), JSON.stringify(run));
  }
  return run;
}
