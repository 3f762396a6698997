// Everything that CI runs, each part once: the static gates, then every test there is.
//
//   npm test                            all of it, on a real Kafka, Redis and registry: those that the environment names,
//                                       else ones that are started here for this run
//   npm test -- --no-static             the tests without the static gates (CI has run those by then)
//   npm test -- --report FILE           where the report of the tests goes, in vitest's JSON
//   npm run test:embedded               every test that needs Node alone, without the static gates
//   npm run test:embedded -- PATH       the tests below PATH, whatever they need
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { distributedTests, missingSuites } from "./distributed-tests.ts";
import { gateNames, root, runGates } from "./gates.ts";
import { runTests } from "./unit-tests.ts";

const { values, positionals } = parseArgs({
  options: {
    static: { type: "boolean", default: true },
    embedded: { type: "boolean", default: false },
    report: { type: "string" },
  },
  allowNegative: true,
  allowPositionals: true,
});

const red = values.static ? await runGates(gateNames) : [];
const report = values.report === undefined ? join(root, ".cache", "reports", "test.json") : resolve(values.report);
const isWhole = positionals.length === 0;
const distributed = isWhole ? distributedTests() : [];
const excluded = values.embedded ? distributed : [];
const { code, counts } = await runTests(positionals, { report, excluded, startsParts: isWhole && !values.embedded });
if (code !== 0) red.push("tests");
const missing = isWhole && !values.embedded ? missingSuites(report, distributed) : [];
if (missing.length > 0) {
  red.push("suites on real services");
  process.stderr.write(`Not one test passed in ${missing.join(", ")}: without them nothing is known about Kafka, Redis and the registry.\n`);
}
process.stdout.write(`tests: ${counts.passed + counts.failed} ran, ${counts.passed} passed, ${counts.failed} failed\n`);
if (counts.other > 0) process.stderr.write(`${counts.other} tests were not run; every test has to run\n`);
if (red.length > 0) process.stderr.write(`red: ${red.join(", ")}\n`);
process.exitCode = red.length > 0 ? 1 : 0;
