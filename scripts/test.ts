// Everything that CI runs, each part once: the static gates, then every test there is.
//
//   npm test                            all of it
//   npm test -- --no-static             the tests without the static gates (CI has run those by then)
//   npm test -- --report FILE           where the report of the tests goes, in vitest's JSON
//   npm run test:embedded               every test on the embedded adapters, without the static gates
//   npm run test:embedded -- PATH       the tests below PATH
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gateNames, root, runGates } from "./gates.ts";
import { runTests } from "./unit-tests.ts";

const { values, positionals } = parseArgs({
  options: {
    static: { type: "boolean", default: true },
    report: { type: "string" },
  },
  allowNegative: true,
  allowPositionals: true,
});

const red = values.static ? await runGates(gateNames) : [];
const report = values.report === undefined ? join(root, ".cache", "reports", "test.json") : resolve(values.report);
const { code, counts } = await runTests(positionals, report);
if (code !== 0) red.push("tests");
process.stdout.write(`tests: ${counts.passed + counts.failed} ran, ${counts.passed} passed, ${counts.failed} failed\n`);
if (counts.other > 0) process.stderr.write(`${counts.other} tests were not run; every test has to run\n`);
if (red.length > 0) process.stderr.write(`red: ${red.join(", ")}\n`);
process.exitCode = red.length > 0 ? 1 : 0;
