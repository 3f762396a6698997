// Prints the counts of a test report as one line: `N passed, N failed`.
//
//   node scripts/run.mjs scripts/report-counts.ts FILE     ends with 1 where nothing passed or anything failed
import { readCounts } from "./unit-tests.ts";

const counts = readCounts(process.argv[2] ?? "");
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
