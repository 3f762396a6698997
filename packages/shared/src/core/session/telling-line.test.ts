import { expect, test } from "vitest";
import { tellingLine } from "./telling-line.ts";

const diagnostic = "  ---\n  duration_ms: 1.7\n  type: 'test'\n  failureType: 'testCodeFailure'\n  error: 'wrong'\n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'\n  expected: 4\n  actual: 3\n  operator: 'strictEqual'\n  ...\n";

test.each([
  ["a test by its name, not the counts behind it", `TAP version 13\nok 1 - is\nnot ok 2 - adds two numbers\n${diagnostic}1..2\n# tests 2\n# pass 1\n# fail 1\n# duration_ms 94.617378\n`, "not ok 2 - adds two numbers"],
  ["a test that a cross marks", "✖ adds two numbers (1.7ms)\nℹ tests 1\nℹ fail 1\nℹ duration_ms 94.6\n", "✖ adds two numbers (1.7ms)"],
  ["an error without its frames and fields", "AssertionError [ERR_ASSERTION]: 3 is not 4\n    at file.js:3\n    generatedMessage: true,\n    code: 'ERR_ASSERTION',\n    operator: 'strictEqual'\n  }\n", "AssertionError [ERR_ASSERTION]: 3 is not 4"],
  ["not the operator of an assertion", "FAILED: the sums differ\n(operator: '==')\n}\n", "FAILED: the sums differ"],
  ["an error of any class", "Traceback\nTypeError: no such key\nit ended\n", "TypeError: no such key"],
  ["what speaks of a failure", "2 tests failed\nsee the report\n", "2 tests failed"],
  ["a field that is a sentence of its own", "error: the sums differ\nbye\n", "error: the sums differ"],
  ["the last words where none speaks of a failure", "there are 2 lines\nthere should be 3\n# done\n", "there should be 3"],
  ["a comment where there is nothing else", "# only a comment\n}\n", "# only a comment"],
])("the line that is shown is %s", (_, output, line) => {
  expect(tellingLine(output)).toBe(line);
});

test("an output without words has no line", () => {
  for (const output of ["", "}\n---\n", "12\n"]) expect(tellingLine(output)).toBeNull();
});
