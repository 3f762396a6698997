import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ file: string, name: string, passed: boolean, skipped: boolean, line: number, reason: string }} TestResult
 *   `file` is relative to the repository, with slashes
 * @typedef {{ name: string, files: { file: string, ranges: [number, number, number][] }[] }} Spectrum
 *   what one test executed: start, end and count of source ranges
 * @typedef {{ ran: true, tests: TestResult[], spectra: Spectrum[] } | { ran: false, why: string }} SuiteRun
 */

const REPORT = [
  `--test-reporter=${new URL("./reporter.mjs", import.meta.url).href}`,
  "--test-reporter-destination=stdout",
];

/**
 * Runs the repository's own test command, as package.json has it under `scripts.test`, and reads what each test said.
 * A run that came to no end, or in which no test ran, is `ran: false`: never a pass, and no failure of the code either.
 * @param {string} folder
 * @param {{ timeoutMs?: number }} [options]
 * @returns {Promise<SuiteRun>}
 */
export async function runSuite(folder, { timeoutMs = 60_000 } = {}) {
  const words = testCommand(folder);
  if (words === null) return { ran: false, why: "package.json has no test script of the form: node --test [options]" };
  return observed(folder, { args: [...words, ...REPORT], timeoutMs, env: {} });
}

/**
 * Runs one test file in a process of its own, without the runner around it.
 * @param {string} folder
 * @param {string} file relative to the folder
 * @param {{ timeoutMs?: number, nodeArgs?: string[], env?: Record<string, string> }} [options]
 * @returns {Promise<SuiteRun>}
 */
export async function runTestFile(folder, file, { timeoutMs = 10_000, nodeArgs = [], env = {} } = {}) {
  return observed(folder, { args: [...nodeArgs, ...REPORT, file], timeoutMs, env });
}

/** The name by which a test is known in tasks, evidence and next steps. */
export function testId(test) {
  return `${test.file}: ${test.name}`;
}

/** The words after `node`. Only plain words are taken: no shell stands between this process and the tests. */
function testCommand(folder) {
  try {
    const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const [program, ...words] = String(scripts?.test).split(" ").filter(Boolean);
    const plain = words.every((word) => /^[\w@%+=:,./*-]+$/.test(word));
    return program === "node" && plain && words.includes("--test") ? words : null;
  } catch {
    return null;
  }
}

async function observed(folder, plan) {
  const ended = await run(folder, plan);
  const rows = readRows(ended.report);
  const spectra = rows.find((row) => row.spectra)?.spectra ?? [];
  return judge(folder, { rows: rows.filter((row) => !row.spectra), spectra }, ended);
}

/** @returns {SuiteRun} */
function judge(folder, { rows, spectra }, ended) {
  if (ended.late) return { ran: false, why: "the test command did not end in time" };
  if (ended.signal !== null) return { ran: false, why: `the test command was ended by ${ended.signal}` };
  if (ended.error !== null) return { ran: false, why: `the test command did not start: ${ended.error}` };
  if (rows.at(-1)?.end !== true) return { ran: false, why: "the test command wrote no complete report" };
  const tests = rows.slice(0, -1).map((row) => ({ ...row, file: place(folder, row.file) }));
  if (!tests.some((test) => !test.skipped)) return { ran: false, why: "no test ran" };
  const red = tests.some((test) => !test.passed);
  if (!red && ended.code !== 0) return { ran: false, why: `every test passed, but the command left with ${ended.code}` };
  return { ran: true, tests: tests.sort(byPlace), spectra };
}

function byPlace(a, b) {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || (a.name < b.name ? -1 : 1);
}

/** Node names files by their real path, also where the folder was reached over a link. */
function place(folder, file) {
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  return relative(realpathSync(folder), path).split(sep).join("/");
}

function readRows(report) {
  try {
    return report.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

/** The suite must not notice that it runs inside another test run, or inherit somebody's Node options. */
function cleanEnvironment(extra) {
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, NODE_V8_COVERAGE, FORCE_COLOR, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1", ...extra };
}

function run(folder, { args, timeoutMs, env }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: cleanEnvironment(env),
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    let report = "";
    child.stdio[3]?.on("data", (chunk) => {
      report += chunk;
    });
    // On SIGTERM the runner ends its test processes, on SIGKILL it could not.
    let late = false;
    const stop = () => {
      late = true;
      child.kill("SIGTERM");
    };
    const limits = [
      setTimeout(stop, timeoutMs),
      setTimeout(() => child.kill("SIGKILL"), timeoutMs + 2000),
    ];
    const settle = (ended) => {
      for (const limit of limits) clearTimeout(limit);
      resolve({ report, late, ...ended });
    };
    child.once("error", (error) => settle({ code: null, signal: null, error: error.message }));
    child.once("close", (code, signal) => settle({ code, signal, error: null }));
  });
}
