// Searches every interleaving of small configurations of processes, people, a target and a network around the real fold.
//
//   npm run explore                          every configuration, each up to 400,000 worlds
//   npm run explore -- --worlds 2000000      deeper
//   npm run explore -- --only approval       those whose name says so
//   npm run explore -- --pairs               every two kinds of faults together, for every contract, each up to 15,000 worlds
//   npm run explore -- --left-out            each rule left out: the shortest way to what then is broken
//
// Ends with 0 where nothing is broken and every rule left out is found out, else with 1.
import { parseArgs } from "node:util";
import { configurations } from "../test/explore/configurations.ts";
import { leftOut } from "../test/explore/left-out.ts";
import type { Configuration } from "../test/explore/model/configuration.ts";
import { pairs } from "../test/explore/pairs.ts";
import { type Found, search } from "../test/explore/search/search.ts";

// pnpm hands the two dashes on that stand between its own options and ours.
const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument, at) => at > 0 || argument !== "--"),
  options: {
    worlds: { type: "string" }, only: { type: "string", default: "" }, pairs: { type: "boolean", default: false },
    "left-out": { type: "boolean", default: false },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const worldsMax = Number(values.worlds ?? (values.pairs ? 15_000 : 400_000));
if (!Number.isSafeInteger(worldsMax) || worldsMax < 1) throw new RangeError(`--worlds takes a whole number from 1 on, not ${values.worlds}.`);

function timed(configuration: Configuration): { readonly found: Found; readonly seconds: string } {
  const startedAt = performance.now();
  const found = search(configuration, { worldsMax });
  return { found, seconds: ((performance.now() - startedAt) / 1000).toFixed(1) };
}
const extent = ({ worlds, nodes, depth, isComplete }: Found): string =>
  `${isComplete ? "complete" : "cut off"}  ${String(worlds).padStart(8)} worlds  ${String(nodes).padStart(5)} states of the fold  depth ${String(depth).padStart(3)}`;

function explore(): boolean {
  let isSound = true;
  for (const configuration of (values.pairs ? pairs : configurations).filter(({ name }) => name.includes(values.only))) {
    const { found, seconds } = timed(configuration);
    say(`${found.breach === null ? "sound " : "BROKEN"}  ${extent(found)}  ${seconds.padStart(6)} s  ${found.configuration}`);
    if (found.breach === null) continue;
    isSound = false;
    say(`        ${found.breach}`);
    for (const line of found.trace) say(`        ${line}`);
  }
  return isSound;
}
function exploreLeftOut(): boolean {
  let allFound = true;
  for (const { rule, configuration, breaks } of leftOut.filter((one) => one.rule.includes(values.only))) {
    const { found, seconds } = timed(configuration);
    const isFound = breaks.test(found.breach ?? "");
    allFound &&= isFound;
    say(`${isFound ? "found" : "MISSED"}: without "${rule}": ${found.breach ?? "nothing"} (${found.worlds} worlds, ${seconds} s)`);
    for (const line of found.trace) say(`        ${line}`);
  }
  return allFound;
}

process.exitCode = (values["left-out"] ? exploreLeftOut() : explore()) ? 0 : 1;
