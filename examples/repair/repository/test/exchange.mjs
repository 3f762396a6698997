import assert from "node:assert/strict";
import { test } from "node:test";
import { convert, convertAll } from "../src/exchange.mjs";

const rates = {
  async rate(from, to) {
    const known = { "EUR>CHF": 0.95, "USD>EUR": 0.5, "GBP>EUR": 1.25 };
    return known[`${from}>${to}`];
  },
};

test("the same currency needs no rate", async () => {
  const none = { rate: () => assert.fail("asked for a rate") };
  assert.equal(await convert(1234, { from: "EUR", to: "EUR" }, none), 1234);
});

test("an amount is converted at the day's rate", async () => {
  assert.equal(await convert(1000, { from: "EUR", to: "CHF" }, rates), 950);
  assert.equal(await convert(333, { from: "USD", to: "EUR" }, rates), 167);
});

test("several currencies add up in one", async () => {
  const amounts = [
    { amount: 1000, currency: "EUR" },
    { amount: 1000, currency: "USD" },
    { amount: 1000, currency: "GBP" },
  ];
  assert.equal(await convertAll(amounts, "EUR", rates), 2750);
});
