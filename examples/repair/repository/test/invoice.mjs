import assert from "node:assert/strict";
import { test } from "node:test";
import { headline, owed, reminderDue, totals } from "../src/invoice.mjs";

const invoice = {
  number: "2026-017",
  issuedOn: "2026-02-20",
  termsDays: 14,
  currency: "EUR",
  taxRate: 19,
  reminders: 0,
  paid: false,
  lines: [
    { quantity: 20, price: 250 },
    { quantity: 3, price: 999 },
  ],
};

test("totals adds the tax to the net sum", () => {
  assert.deepEqual(totals(invoice), { net: 7747, tax: 1472, gross: 9219 });
});

test("reverse charge has no tax", () => {
  assert.deepEqual(totals({ ...invoice, reverseCharge: true }), { net: 7747, tax: 0, gross: 7747 });
});

test("a reminder waits until the days of grace are over", () => {
  assert.equal(reminderDue(invoice, "2026-03-13"), false);
  assert.equal(reminderDue(invoice, "2026-03-14"), true);
});

test("a paid invoice gets no reminder", () => {
  assert.equal(reminderDue({ ...invoice, paid: true }, "2026-06-01"), false);
});

test("each reminder adds its fee", () => {
  assert.equal(owed(invoice), 9219);
  assert.equal(owed({ ...invoice, reminders: 2 }), 10_219);
  assert.equal(owed({ ...invoice, paid: true }), 0);
});

test("the headline names number and amount", () => {
  assert.equal(headline(invoice), "2026-017: 92.19 EUR");
});
