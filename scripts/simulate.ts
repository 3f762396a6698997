// Runs seeds of the simulation, on both cores, and says of each that fails the shortest schedule of faults.
//
//   npm run simulate -- --seeds 500 --from 1      500 seeds from the first on (pnpm simulate --seeds 500)
//   npm run simulate -- --from 17                 one seed
//   npm run simulate -- --plan FILE.json          one plan, as a failing seed printed it
//   npm run simulate -- --seeds 50 --guard fence  with a guard taken away: this has to fail
//   npm run simulate -- --seeds 50 --faults 40    so many faults in each
//   npm run simulate -- ... --quick               does not shrink what fails
//
// Ends with 0 where all are sound, with 1 where a promise is broken, with 2 where a run only never came to rest.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type Guards, guardsOn } from "@loopledger/shared/core/fencing/guards";
import { type Examined, examine } from "../test/simulation/examine.ts";
import { crowdedPlanOf, planOf } from "../test/simulation/plan/generate.ts";
import type { Plan } from "../test/simulation/plan/plan.ts";
import { shrink } from "../test/simulation/shrink.ts";

// pnpm hands the two dashes on that stand between its own options and ours.
const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument, at) => at > 0 || argument !== "--"),
  options: {
    seeds: { type: "string", default: "1" }, from: { type: "string", default: "1" }, jobs: { type: "string", default: "2" },
    step: { type: "string", default: "1" }, guard: { type: "string" }, plan: { type: "string" }, faults: { type: "string" },
    quick: { type: "boolean", default: false }, child: { type: "boolean", default: false },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);

function whole(name: "seeds" | "from" | "jobs" | "step" | "faults"): number {
  const number = Number(values[name]);
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`--${name} takes a whole number from 1 on, not ${values[name]}.`);
  return number;
}

/** What a child tells its parent of one seed. */
interface Told extends Omit<Examined, "seen"> {
  readonly seen: readonly (readonly [string, number])[];
  readonly shortest: Plan | null;
}

function guards(): Partial<Guards> {
  const { guard } = values;
  if (guard === undefined) return {};
  if (!Object.hasOwn(guardsOn, guard)) throw new RangeError(`There is no guard ${guard}. The guards: ${Object.keys(guardsOn).join(", ")}.`);
  return { [guard]: false };
}

async function told(plan: Plan): Promise<Told> {
  const options = { guards: guards() };
  const examined = await examine(plan, options);
  const shortest = examined.result === "sound" || values.quick ? null : await shrink(plan, examined, options);
  return { ...examined, violations: examined.violations.slice(0, 20), seen: [...examined.seen], shortest };
}

/** Every step-th seed, one line of JSON each. */
async function runAsChild(): Promise<void> {
  const [from, seeds, step] = [whole("from"), whole("seeds"), whole("step")];
  for (let seed = from; seed < from + seeds; seed += step) say(JSON.stringify(await told(values.faults === undefined ? planOf(seed) : crowdedPlanOf(seed, whole("faults")))));
}

function runChild(index: number, jobs: number, take: (one: Told) => void): Promise<number> {
  const args = ["--child", "--from", String(whole("from") + index), "--seeds", String(whole("seeds") - index), "--step", String(jobs)];
  const passed = [...(values.faults === undefined ? [] : ["--faults", values.faults]), ...(values.guard === undefined ? [] : ["--guard", values.guard]), ...(values.quick ? ["--quick"] : [])];
  const child = spawn(process.execPath, [import.meta.filename, ...args, ...passed], { stdio: ["ignore", "pipe", "inherit"] });
  createInterface(child.stdout).on("line", (line) => take(JSON.parse(line) as Told));
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done(code ?? 1));
  });
}

function describe({ seed, result, violations, shortest, virtualMs, entries }: Told): void {
  if (result === "sound") return;
  say(`seed ${seed}: ${result} after ${virtualMs} ms of virtual time and ${entries} entries`);
  for (const { id, session, detail } of violations) say(`  ${id} ${session ?? "-"} ${detail}`);
  if (shortest === null) return;
  say(`  the shortest schedule has ${shortest.faults.length} faults:`);
  for (const fault of shortest.faults) say(`    ${JSON.stringify(fault)}`);
  say(`  the whole plan: ${JSON.stringify(shortest)}`);
}

function count(into: Map<string, number>, what: string, times = 1): void {
  into.set(what, (into.get(what) ?? 0) + times);
}

async function main(): Promise<number> {
  if (values.plan !== undefined) {
    const one = await told(JSON.parse(readFileSync(values.plan, "utf8")) as Plan);
    describe(one);
    say(one.result);
    return codeOf([one.result]);
  }
  const startedAt = performance.now();
  const jobs = Math.min(whole("jobs"), whole("seeds"));
  const [results, fired, seen]: Map<string, number>[] = [new Map(), new Map(), new Map()];
  const take = (one: Told): void => {
    describe(one);
    count(results as Map<string, number>, one.result);
    for (const kind of one.fired) count(fired as Map<string, number>, kind);
    for (const [name, times] of one.seen) count(seen as Map<string, number>, name, times);
  };
  const codes = await Promise.all(Array.from({ length: jobs }, (_, index) => runChild(index, jobs, take)));
  const list = (of: Map<string, number> | undefined): string => [...(of ?? [])].sort().map(([name, times]) => `${name} ${times}`).join(", ") || "none";
  say(`faults that happened: ${list(fired)}`);
  say(`seen: ${list(seen)}`);
  say(`${values.seeds} seeds from ${values.from}: ${list(results)}; ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return codes.some((code) => code !== 0) ? 1 : codeOf([...(results ?? new Map()).keys()]);
}

function codeOf(results: readonly string[]): number {
  if (results.includes("broken")) return 1;
  return results.includes("timeout") ? 2 : 0;
}

if (values.child) await runAsChild();
else process.exitCode = await main();
