/**
 * An amount in another currency.
 * @param {number} amount in cents
 * @param {{ from: string, to: string }} pair
 * @param {{ rate(from: string, to: string): Promise<number> }} rates the day's rates, from wherever they come
 */
export async function convert(amount, pair, rates) {
  if (pair.from === pair.to) return amount;
  const rate = rates.rate(pair.from, pair.to);
  return Math.round(amount * rate);
}

/** Amounts of several currencies in one. */
export async function convertAll(amounts, to, rates) {
  let sum = 0;
  for (const { amount, currency } of amounts) {
    sum += await convert(amount, { from: currency, to }, rates);
  }
  return sum;
}
