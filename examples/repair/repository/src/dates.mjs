const DAY_MS = 86_400_000;

/** Days are text, "2026-03-01"; all arithmetic is in UTC, where every day has 24 hours. */
export function addDays(day, count) {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

export function daysBetween(from, to) {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

export function dueOn(invoice) {
  return addDays(invoice.issuedOn, invoice.termsDays);
}

/** How many days the payment is late; 0 until the due day is over. */
export function daysLate(invoice, today) {
  return Math.max(0, daysBetween(today, dueOn(invoice)));
}
