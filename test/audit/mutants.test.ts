import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DumpRow, type Violation, audit } from "@loopledger/audit";
import { plantedLogs, turnedLogs, walkedLogs } from "./corpus.ts";
import { type Fold, aboutFolds, realFold, saidBy } from "./folds.ts";
import { graft } from "./graft.ts";
import { type Mutant, mutants } from "./mutants.ts";

const shared = join(import.meta.dirname, "../../packages/shared");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "loopledger-mutants-")));
const logs: DumpRow[][] = [...turnedLogs(), ...plantedLogs(), ...walkedLogs(16, 80)];

const keyOf = ({ id, offset, detail }: Violation): string => `${id} ${offset} ${detail}`;

/** The mutant beside the real core: what stands on the changed file is copied, the rest is the real one. */
async function load(mutant: Mutant, index: number): Promise<Fold> {
  const core = join(folder, `m${index}`, "core");
  graft({ real: join(shared, "src/core"), copy: core, mutant });
  const get = (name: string): Promise<unknown> => import(/* @vite-ignore */ pathToFileURL(join(core, "session", name)).href);
  return { ...((await get("evolve.ts")) as Pick<Fold, "evolve">), ...((await get("status.ts")) as Pick<Fold, "statusOf">) };
}

let known: Set<string>[] = [];
beforeAll(() => {
  symlinkSync(join(shared, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  known = logs.map((log) => new Set(audit(saidBy(realFold, log)).violations.map(keyOf)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The first new violation that a fold's own words bring, over all logs; null where the audit sees none. */
function caught(fold: Fold): Violation | null {
  for (const [index, log] of logs.entries()) {
    const found = audit(saidBy(fold, log)).violations.find((violation) => !known[index]?.has(keyOf(violation)));
    if (found) return found;
  }
  return null;
}

describe("a fold without one of its guards", () => {
  it.each(mutants.map((mutant, index) => ({ mutant, index, name: mutant.name })))("is caught: $name", async ({ mutant, index }) => {
    expect(caught(await load(mutant, index))).not.toBeNull();
  });

  it("is told apart from the fold with all of them, which is not, copied or not", async () => {
    const { from } = mutants[0] as Mutant;
    const same = await load({ name: "no change", file: "fencing/fence.ts", from, to: from }, mutants.length);
    expect(caught(same)).toBeNull();
    expect(logs.flatMap((log) => aboutFolds(audit(saidBy(realFold, log)).violations))).toEqual([]);
  });
});
