import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { distributedTests, missingSuites } from "../../scripts/distributed-tests.ts";
import { root } from "../../scripts/gates.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-reports-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const report = (files: Readonly<Record<string, readonly string[]>>): string => {
  const path = join(folder, "report.json");
  const testResults = Object.entries(files).map(([name, statuses]) => ({ name: join(root, name), status: "passed", assertionResults: statuses.map((status) => ({ status })) }));
  writeFileSync(path, JSON.stringify({ testResults }));
  return path;
};
const kafka = "test/contract/kafka.test.ts";

test("the files that need real services are those that reach them through whatever they import", () => {
  const found = distributedTests();
  expect(found).toContain(kafka);
  expect(found).toContain("test/infra/topics.test.ts");
  expect(found).not.toContain("test/tidy.test.ts");
  expect(found).not.toContain("test/infra/development-registry.test.ts");
});

test("a run without a passed test on the real Kafka is told, whatever else ran", () => {
  expect(missingSuites(report({ [kafka]: ["passed", "failed"] }), [])).toEqual([]);
  expect(missingSuites(report({ [kafka]: [] }), [])).toEqual([kafka]);
  expect(missingSuites(report({ [kafka]: ["failed"] }), [])).toEqual([kafka]);
  expect(missingSuites(report({ "test/tidy.test.ts": ["passed"] }), [kafka, "test/a.test.ts"])).toEqual([kafka, "test/a.test.ts"]);
  expect(missingSuites(join(folder, "none.json"), [])).toEqual([kafka]);
});
