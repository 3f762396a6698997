/** What vitest runs once around all files: leftovers of killed runs end before, and this run's parts end after. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { down, partNames, up } from "@loopledger/infra/launcher";
import { isAlive } from "@loopledger/infra/process-identity";
import { partVariables } from "./parts.ts";
import { folderOfRuns, runOf, type TestRun, variable } from "./run.ts";

const quiet = { variables: process.env, tell: () => undefined };

/** The folder is the run's own, with all that is in it. */
async function endRun(folder: string): Promise<void> {
  await down({ ...quiet, folder });
  rmSync(folder, { recursive: true, force: true });
}

/** Ends what a run left that was killed together with its keeper. */
async function endAbandoned(): Promise<void> {
  if (!existsSync(folderOfRuns)) return;
  for (const name of readdirSync(folderOfRuns)) {
    const folder = join(folderOfRuns, name);
    const note = join(folder, "run.json");
    if (!existsSync(note)) continue;
    const { owner } = JSON.parse(readFileSync(note, "utf8")) as TestRun;
    if (!isAlive(owner)) await endRun(folder);
  }
}

/** All that the environment does not name, at the same time. One that cannot be had is told by each test that needs it. */
async function startAll({ folder, owner }: TestRun): Promise<void> {
  const only = partNames.filter((part) => !process.env[partVariables[part]]);
  if (only.length === 0) return;
  const tell = (text: string): void => void process.stderr.write(`tests: ${text}\n`);
  await up({ folder, owner, only, ports: "free", topics: null, variables: process.env, tell }).catch((error: Error) => tell(error.message));
}

/** What vitest calls before the first file and, by what it returns, after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  await endAbandoned();
  const run = runOf(process.pid);
  process.env[variable] = JSON.stringify(run);
  // A whole run brings them up now; where only some files are run, the first one that needs a part does.
  if (process.env["LOOPLEDGER_TEST_PARTS"] === "at-once") await startAll(run);
  return async () => {
    await endRun(run.folder);
  };
}
