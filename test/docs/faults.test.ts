/** docs/faults.md says what is so: of every fault the tests that inject it, or why none does. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue, injected, read, strangers, table } from "../support/faults/table.ts";
import { isNamed, testNames } from "./test-names.ts";

const root = join(import.meta.dirname, "../..");

test("the table of faults is up to date", () => {
  expect(read(root) === table(root), "run `node scripts/run.mjs scripts/faults.ts`").toBe(true);
});
test("the catalogue's numbers are dense, and no test names another one", () => {
  expect(catalogue.map(({ number }) => number)).toEqual(catalogue.map((_, index) => index + 1));
  expect(strangers(root)).toEqual([]);
});
test("a fault is injected by a test, or has the reason why not, and never both", () => {
  const odd = injected(root).filter(({ by, why }) => (by.length > 0) === (why !== undefined));
  expect(odd.map(({ number, what }) => `${number} ${what}`)).toEqual([]);
  expect(injected(root).filter(({ by }) => by.length > 0).length).toBeGreaterThan(70);
});
test("every test that the table names is there", () => {
  const missing = injected(root).flatMap(({ number, by }) => by
    .filter(({ file, name }) => !existsSync(join(root, file)) || !isNamed(testNames(join(root, file)), name))
    .map(({ file, name }) => `${number}: ${file} has no test "${name}"`));
  expect(missing).toEqual([]);
});
