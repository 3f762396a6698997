/**
 * The one set of local parts of a test run. The run is the process that vitest itself is: its workers find its folder by
 * environment, the first test that needs a part brings it up there, and whatever came up ends with the run, also with one
 * that is killed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { down } from "@loopledger/infra/launcher";
import { identify, isAlive, type ProcessIdentity } from "@loopledger/infra/process-identity";

const folderOfRuns = resolve(import.meta.dirname, "..", "..", "..", ".cache", "parts");
const variable = "LOOPLEDGER_TEST_RUN";

export interface TestRun {
  readonly folder: string;
  readonly owner: ProcessIdentity;
}

const quiet = { variables: process.env, tell: () => undefined };

function runOf(pid: number): TestRun {
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

/** Ends what a run left that was killed together with its keeper. */
async function endAbandoned(): Promise<void> {
  if (!existsSync(folderOfRuns)) return;
  for (const name of readdirSync(folderOfRuns)) {
    const folder = join(folderOfRuns, name);
    const note = join(folder, "run.json");
    if (!existsSync(note)) continue;
    const { owner } = JSON.parse(readFileSync(note, "utf8")) as TestRun;
    if (!isAlive(owner)) await down({ ...quiet, folder, purge: true });
  }
}

/** What vitest calls before the first file and, by what it returns, after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  await endAbandoned();
  const run = runOf(process.pid);
  process.env[variable] = JSON.stringify(run);
  return async () => {
    await down({ ...quiet, folder: run.folder, purge: true });
  };
}
