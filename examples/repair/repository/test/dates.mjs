import assert from "node:assert/strict";
import { test } from "node:test";
import { addDays, daysBetween, daysLate, dueOn } from "../src/dates.mjs";

const invoice = { issuedOn: "2026-02-20", termsDays: 14 };

test("addDays crosses the end of a month", () => {
  assert.equal(addDays("2026-02-20", 14), "2026-03-06");
  assert.equal(addDays("2028-02-28", 1), "2028-02-29");
  assert.equal(addDays("2026-12-31", 0), "2026-12-31");
});

test("daysBetween counts forward and back", () => {
  assert.equal(daysBetween("2026-03-01", "2026-03-31"), 30);
  assert.equal(daysBetween("2026-03-31", "2026-03-01"), -30);
});

test("an invoice is due after its terms", () => {
  assert.equal(dueOn(invoice), "2026-03-06");
});

test("on the due day nothing is late", () => {
  assert.equal(daysLate(invoice, "2026-03-06"), 0);
});

test("daysLate counts from the due day", () => {
  assert.equal(daysLate(invoice, "2026-03-07"), 1);
  assert.equal(daysLate(invoice, "2026-04-05"), 30);
});

test("before the due day nothing is late", () => {
  assert.equal(daysLate(invoice, "2026-02-21"), 0);
});
