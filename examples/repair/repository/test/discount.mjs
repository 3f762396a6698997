import assert from "node:assert/strict";
import { test } from "node:test";
import { discountRate, lineTotal } from "../src/discount.mjs";

test("small quantities have no discount", () => {
  assert.equal(discountRate(1), 0);
  assert.equal(discountRate(9), 0);
});

test("between two steps the lower one counts", () => {
  assert.equal(discountRate(11), 5);
  assert.equal(discountRate(49), 5);
  assert.equal(discountRate(99), 10);
  assert.equal(discountRate(500), 15);
});

test("a step begins with its own quantity", () => {
  assert.equal(discountRate(10), 5);
  assert.equal(discountRate(50), 10);
  assert.equal(discountRate(100), 15);
});

test("lineTotal takes the discount off", () => {
  assert.equal(lineTotal({ quantity: 20, price: 250 }), 4750);
  assert.equal(lineTotal({ quantity: 2, price: 250 }), 500);
});
