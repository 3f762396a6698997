import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runSuite, runTestFile, testId } from "../suite/run-suite.mjs";
import { apply } from "./candidates.mjs";

/**
 * Copies of the repository in which edits are tried, so that the workspace itself never holds a half-tried one: a
 * search that is killed leaves the code as it was.
 * @param {{ folder: string, scratch: string, count: number }} options `scratch` is ours alone
 */
export function openLanes({ folder, scratch, count }) {
  sweep(scratch);
  const own = join(scratch, String(process.pid));
  const lanes = Array.from({ length: count }, (_, n) => join(own, `lane-${n}`));
  for (const lane of lanes) copy(folder, lane);
  return { lanes, close: () => rmSync(own, { recursive: true, force: true }) };
}

/** What searches left that were killed. */
function sweep(scratch) {
  if (!existsSync(scratch)) return;
  for (const name of readdirSync(scratch)) {
    if (!isAlive(Number(name))) rmSync(join(scratch, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function copy(folder, lane) {
  mkdirSync(lane, { recursive: true });
  const heavy = new Set([".git", "node_modules"]);
  cpSync(folder, lane, { recursive: true, filter: (path) => path === folder || !heavy.has(basename(path)) });
  if (existsSync(join(folder, "node_modules"))) symlinkSync(join(folder, "node_modules"), join(lane, "node_modules"));
}

/**
 * Does the edit make the target pass and break nothing? First the target's own test file, then, only if that is well,
 * the whole suite.
 * @param {string} lane
 * @param {import("./candidates.mjs").Candidate} candidate
 * @param {{ target: import("../suite/run-suite.mjs").TestResult, green: Set<string>, timeoutMs: number }} wanted
 *   `green`: ids of the tests that passed before
 * @returns {Promise<import("../suite/run-suite.mjs").TestResult[] | null>} what the whole suite says with the edit; null where it does not hold
 */
export async function trial(lane, candidate, { target, green, timeoutMs }) {
  const path = join(lane, candidate.file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, apply(original, candidate));
  try {
    const goal = testId(target);
    const ownFile = new Set([...green].filter((id) => id.startsWith(`${target.file}: `)).concat(goal));
    const near = await runTestFile(lane, target.file, { timeoutMs });
    if (!allPass(near, ownFile)) return null;
    const far = await runSuite(lane, { timeoutMs: timeoutMs * 5 });
    return far.ran && allPass(far, new Set([...green, goal])) ? far.tests : null;
  } finally {
    writeFileSync(path, original);
  }
}

function allPass(run, ids) {
  if (!run.ran) return false;
  const passed = new Set(run.tests.filter((test) => test.passed && !test.skipped).map(testId));
  return [...ids].every((id) => passed.has(id));
}
