import { percent } from "./money.mjs";

/** The price list's steps: from this many pieces on, this many per cent off. */
const STEPS = [
  { from: 100, rate: 15 },
  { from: 50, rate: 10 },
  { from: 10, rate: 5 },
];

export function discountRate(quantity) {
  const step = STEPS.find(({ from }) => quantity > from);
  return step ? step.rate : 0;
}

export function lineTotal({ quantity, price }) {
  const gross = quantity * price;
  return gross - percent(gross, discountRate(quantity));
}
