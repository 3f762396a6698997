import { daysLate } from "./dates.mjs";
import { lineTotal } from "./discount.mjs";
import { format, percent } from "./money.mjs";

const GRACE_DAYS = 7;
const FEE_CENTS = 500;

export function totals(invoice) {
  const net = invoice.lines.reduce((sum, line) => sum + lineTotal(line), 0);
  const tax = invoice.reverseCharge ? 0 : percent(net, invoice.taxRate);
  return { net, tax, gross: net + tax };
}

/** A reminder goes out when an open invoice is late by more than the days of grace. */
export function reminderDue(invoice, today) {
  return !invoice.paid && daysLate(invoice, today) > GRACE_DAYS;
}

/** What is owed today, with one fee for each reminder sent. */
export function owed(invoice) {
  if (invoice.paid) return 0;
  return totals(invoice).gross + invoice.reminders * FEE_CENTS;
}

export function headline(invoice) {
  return `${invoice.number}: ${format(totals(invoice).gross, invoice.currency)}`;
}
