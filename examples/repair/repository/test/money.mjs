import assert from "node:assert/strict";
import { test } from "node:test";
import { format, percent, split } from "../src/money.mjs";

test("percent rounds halves up", () => {
  assert.equal(percent(1050, 5), 53);
  assert.equal(percent(1030, 5), 52);
  assert.equal(percent(1000, 19), 190);
  assert.equal(percent(1008, 5), 50);
});

test("format writes two digits and the currency", () => {
  assert.equal(format(120_450), "1204.50 EUR");
  assert.equal(format(5, "CHF"), "0.05 CHF");
  assert.equal(format(0), "0.00 EUR");
});

test("format keeps the sign of small amounts", () => {
  assert.equal(format(-5), "-0.05 EUR");
  assert.equal(format(-100), "-1.00 EUR");
});

test("split gives parts that add up", () => {
  assert.deepEqual(split(1000, 3), [334, 333, 333]);
  assert.deepEqual(split(1001, 3), [334, 334, 333]);
  assert.deepEqual(split(900, 3), [300, 300, 300]);
});
