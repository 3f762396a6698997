import { expect, test } from "vitest";
import { countResults, readCounts } from "../../scripts/unit-tests.ts";

test("passed and failed tests are counted over all files", () => {
  const passed = { status: "passed" };
  const failed = { status: "failed" };
  const files = [
    { status: "passed", assertionResults: [passed, passed] },
    { status: "failed", assertionResults: [passed, failed] },
  ];
  expect(countResults(files)).toEqual({ passed: 3, failed: 1, other: 0 });
});

test("a file that could not be loaded counts as a failed test", () => {
  expect(countResults([{ status: "failed", assertionResults: [] }])).toEqual({ passed: 0, failed: 1, other: 0 });
});

test("a test that was left out is neither passed nor failed", () => {
  const files = [{ status: "passed", assertionResults: [{ status: "passed" }, { status: "skipped" }] }];
  expect(countResults(files)).toEqual({ passed: 1, failed: 0, other: 1 });
});

test("a run without a report has failed", () => {
  expect(readCounts("/nowhere/report.json")).toEqual({ passed: 0, failed: 1, other: 0 });
});
