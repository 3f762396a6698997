/**
 * The check: runs the repository's own test command in the working folder and writes what it said to the file that
 * $LOOPLEDGER_VALIDATION names. Where the tests could not be run there is no verdict: exit 75, never a pass.
 */
import { renameSync, writeFileSync } from "node:fs";
import { runSuite, testId } from "./suite/run-suite.mjs";

const COULD_NOT_RUN = 75;
const REASON_LETTERS_MAX = 120;

/** @param {import("./suite/run-suite.mjs").TestResult[]} tests */
function validation(tests) {
  const counted = tests.filter(({ skipped }) => !skipped);
  const failing = counted.filter(({ passed }) => !passed);
  return {
    verdict: failing.length === 0 ? "PASS" : "FAIL",
    evidence: {
      command: "npm test",
      tests: counted.length,
      passed: counted.length - failing.length,
      remaining: failing.length,
      failing: failing.map(testId),
    },
    next_steps: failing.map((test) => `Make this test pass: ${testId(test)} (${brief(test.reason)})`),
  };
}

function brief(reason) {
  const line = reason.replace(/\s+/g, " ").trim();
  return line.length <= REASON_LETTERS_MAX ? line : `${[...line].slice(0, REASON_LETTERS_MAX).join("")}…`;
}

const run = await runSuite(process.cwd());
const file = process.env.LOOPLEDGER_VALIDATION;
if (!run.ran) {
  process.stderr.write(`The tests could not be run: ${run.why}\n`);
  process.exitCode = COULD_NOT_RUN;
} else if (file === undefined) {
  process.stdout.write(`${JSON.stringify(validation(run.tests), null, 2)}\n`);
  process.exitCode = run.tests.every(({ passed, skipped }) => passed || skipped) ? 0 : 1;
} else {
  writeFileSync(`${file}.part`, JSON.stringify(validation(run.tests)));
  renameSync(`${file}.part`, file);
}
