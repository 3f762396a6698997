/** Amounts are whole cents, so that no sum carries a rounding error. */

/** The share of an amount, in cents; halves go up. */
export function percent(amount, rate) {
  return Math.round((amount * rate) / 100);
}

/** "1204.50 EUR" */
export function format(amount, currency = "EUR") {
  const sign = amount < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(amount) / 100);
  const rest = String(Math.abs(amount) % 100).padStart(2, "0");
  return `${sign}${whole}.${rest} ${currency}`;
}

/** Parts that add up to the amount: the first ones carry what cannot be divided. */
export function split(amount, parts) {
  const share = Math.floor(amount / parts);
  const rest = amount - share * parts;
  return Array.from({ length: parts }, (_, index) => (index < rest ? share + 1 : share));
}
