/** `Retry-After` by RFC 9110: digits alone are seconds, a date has one of three forms, and anything else says nothing. */
import { waitOf, waitUntil } from "../results/waiting.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const day = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const time = "(?<time>\\d{2}:\\d{2}:\\d{2})";
/** The form of today, and the two that a recipient still has to read. */
const forms = [
  new RegExp(`^${day}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${day} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/** Seconds to wait; undefined where the header says nothing that could be waited for. */
export function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  const said = header?.trim() ?? "";
  if (/^\d+$/.test(said)) return waitOf(Number(said));
  const atMs = httpDate(said, nowMs);
  return atMs === null ? undefined : waitUntil(atMs, nowMs);
}

/** Milliseconds since 1970 of an HTTP-date; null where it is none, or a day that no calendar has. */
function httpDate(text: string, nowMs: number): number | null {
  for (const form of forms) {
    const parts = form.exec(text)?.groups as { readonly day: string; readonly month: string; readonly year: string; readonly time: string } | undefined;
    if (!parts) continue;
    const [hours = 0, minutes = 0, seconds = 0] = parts.time.split(":").map(Number);
    const [dayOfMonth, monthIndex] = [Number(parts.day), months.indexOf(parts.month)];
    if (hours > 23 || minutes > 59 || seconds > 60) return null;
    const midnight = new Date(Date.UTC(fullYear(parts.year, nowMs), monthIndex, dayOfMonth));
    if (midnight.getUTCMonth() !== monthIndex || midnight.getUTCDate() !== dayOfMonth) return null;
    return midnight.getTime() + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  }
  return null;
}
/** Two digits name the year of this century, or that of the last one where it would lie more than 50 years ahead. */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits);
  const now = new Date(nowMs).getUTCFullYear();
  const year = now - (now % 100) + Number(digits);
  return year > now + 50 ? year - 100 : year;
}
