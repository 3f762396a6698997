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

/** One line of what the test said, without the words that every failed assertion begins with. */
function brief(reason) {
  const line = reason.replace(/^Expected values to be [a-z -]*equal:/, "").replace(/\s+/g, " ").trim();
  return line.length <= REASON_LETTERS_MAX ? line : `${[...line].slice(0, REASON_LETTERS_MAX).join("")}…`;
}

/** For people, beside the verdict: the whole output of the tests is a call of `npm test` in the workspace away. */
function show({ evidence, next_steps }) {
  process.stdout.write(`npm test: ${evidence.passed} of ${evidence.tests} tests pass\n`);
  for (const step of next_steps) process.stdout.write(`  ${step.replace("Make this test pass:", "fails:")}\n`);
}

const run = await runSuite(process.cwd());
const file = process.env.LOOPLEDGER_VALIDATION;
if (!run.ran) {
  process.stderr.write(`The tests could not be run: ${run.why}\n`);
  process.exitCode = COULD_NOT_RUN;
} else {
  const said = validation(run.tests);
  show(said);
  if (file === undefined) process.exitCode = said.verdict === "PASS" ? 0 : 1;
  else {
    writeFileSync(`${file}.part`, JSON.stringify(said));
    renameSync(`${file}.part`, file);
  }
}
