/**
 * ISO 8601 in UTC of milliseconds since 1970, without a clock or a calendar library (days to civil date by era arithmetic).
 * Parts of a millisecond, as a retry's delay may bring them into its due time, are left out.
 */
export function isoOf(instant: number): string {
  const ms = floor(instant);
  const day = floor(ms / 86_400_000);
  const rest = ms - day * 86_400_000;
  const z = day + 719_468;
  const era = floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = floor((dayOfEra - floor(dayOfEra / 1460) + floor(dayOfEra / 36_524) - floor(dayOfEra / 146_096)) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + floor(yearOfEra / 4) - floor(yearOfEra / 100));
  const shifted = floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfYear - floor((153 * shifted + 2) / 5) + 1, 2)}`;
  const time = `${pad(floor(rest / 3_600_000), 2)}:${pad(floor(rest / 60_000) % 60, 2)}:${pad(floor(rest / 1000) % 60, 2)}`;
  return `${date}T${time}.${pad(rest % 1000, 3)}Z`;
}

function floor(value: number): number {
  const down = value - (value % 1);
  return value < down ? down - 1 : down;
}
function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
