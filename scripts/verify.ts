// The checks of the checkout: everything that CI runs, or a part of it.
//
//   npm run verify                      static gates, then the tests beside the code and the tidy test
//   npm run verify -- --static          the static gates alone
//   npm run verify -- --only lint,deps  the named gates alone
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gateNames, root, runGates } from "./gates.ts";
import { runTests } from "./unit-tests.ts";

const { values } = parseArgs({ options: { static: { type: "boolean" }, only: { type: "string" } } });
const names = values.only?.split(",") ?? gateNames;
const unknown = names.filter((name) => !gateNames.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no gate ${unknown.join(", ")}. The gates: ${gateNames.join(", ")}.\n`);
  process.exit(2);
}

const red = await runGates(names);
if (values.only === undefined && values.static !== true) {
  const report = join(root, ".cache", "reports", "verify.json");
  const { code, counts } = await runTests(["packages", "services", "test/tidy.test.ts"], { report });
  process.stdout.write(`unit tests: ${counts.passed + counts.failed} ran, ${counts.passed} passed, ${counts.failed} failed\n`);
  if (code !== 0) red.push("unit tests");
}
if (red.length > 0) process.stderr.write(`red: ${red.join(", ")}\n`);
process.exitCode = red.length > 0 ? 1 : 0;
