import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { runTestFile, testId } from "../suite/run-suite.mjs";
import { candidates } from "./candidates.mjs";
import { openLanes, trial } from "./lanes.mjs";
import { suspects } from "./suspicion.mjs";

/**
 * @typedef {import("../suite/run-suite.mjs").TestResult} TestResult
 * `tests`: what the whole suite says with the candidate
 * @typedef {{ candidate: import("./candidates.mjs").Candidate | null, tests: TestResult[], tried: number, ranked: number, files: string[] }} Found
 */

const PROBE = new URL("./spectrum-probe.mjs", import.meta.url).href;
const LANES = 2;
/** A trial that takes ten times as long as the code before the edit runs in circles; on a busy machine both are slow. */
const TRIAL_MS_MIN = 3000;
const TRIAL_FACTOR = 10;

/**
 * Looks for one edit that makes the target pass without breaking a test that passed: localise, propose, try. Nothing in
 * the folder is changed. The first edit of the ranking that holds is the answer, whatever order the trials end in.
 * @param {{ folder: string, scratch: string, target: TestResult, tests: TestResult[], triesMax: number, deadline: number }} options
 *   `tests`: what the whole suite said before; `deadline` in milliseconds of `performance.now()`
 * @returns {Promise<Found>}
 */
export async function search({ folder, scratch, target, tests, triesMax, deadline }) {
  const begun = performance.now();
  const suspected = await localise(folder, target, tests);
  const timeoutMs = Math.max(TRIAL_MS_MIN, TRIAL_FACTOR * (performance.now() - begun));
  const ranked = candidates(suspected.map((suspect) => ({ ...suspect, source: readFileSync(join(folder, suspect.file), "utf8") })), target.reason);
  const files = suspected.map(({ file }) => file);
  const green = new Set(tests.filter((test) => test.passed && !test.skipped).map(testId));
  const { lanes, close } = openLanes({ folder, scratch, count: LANES });
  try {
    let tried = 0;
    while (tried < Math.min(ranked.length, triesMax) && performance.now() < deadline) {
      const batch = ranked.slice(tried, tried + lanes.length);
      const held = await Promise.all(batch.map((candidate, n) => trial(lanes[n], candidate, { target, green, timeoutMs })));
      tried += batch.length;
      const first = held.findIndex((after) => after !== null);
      if (first !== -1) return { candidate: batch[first], tests: held[first] ?? [], tried, ranked: ranked.length, files };
    }
    return { candidate: null, tests, tried, ranked: ranked.length, files };
  } finally {
    close();
  }
}

/** Runs the target's test file once, with V8's coverage read around each test. */
async function localise(folder, target, tests) {
  const run = await runTestFile(folder, target.file, { nodeArgs: ["--import", PROBE], timeoutMs: 30_000 });
  if (!run.ran) throw new Error(`the test file ${target.file} could not be run: ${run.why}`);
  const passing = new Set(tests.filter((test) => test.file === target.file && test.passed).map(innermost));
  return suspects({ folder: realpathSync(folder), spectra: run.spectra, target: innermost(target), passing });
}

/** The probe sees a test's own name, the report its parents' too. */
function innermost({ name }) {
  return name.split(" > ").at(-1) ?? name;
}
