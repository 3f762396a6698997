/** Where things begin and end in a row of tokens: groups, arguments, operands. Indexes are token indexes. */

/** @typedef {import("./tokens.mjs").Token} Token */

const CLOSES = { "(": ")", "[": "]", "{": "}" };
const OPENS = { ")": "(", "]": "[", "}": "{" };

/** The index of the sign that closes the group opened at `index`, or -1. */
export function closing(all, index) {
  return match(all, index, { step: 1, more: all[index].text, less: CLOSES[all[index].text] });
}

/** The index of the sign that opens the group closed at `index`, or -1. */
export function opening(all, index) {
  return match(all, index, { step: -1, more: all[index].text, less: OPENS[all[index].text] });
}

function match(all, index, { step, more, less }) {
  let depth = 0;
  for (let at = index; at >= 0 && at < all.length; at += step) {
    if (all[at].kind !== "sign") continue;
    if (all[at].text === more) depth += 1;
    if (all[at].text === less) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/**
 * The parts of the group opened at `index`, split at its own commas, each as [first, last].
 * @returns {[number, number][]}
 */
export function parts(all, index) {
  const end = closing(all, index);
  const found = [];
  let first = index + 1;
  for (let at = index + 1; at <= end; at += 1) {
    if (at === end || all[at].text === ",") {
      if (at > first) found.push([first, at - 1]);
      first = at + 1;
    } else if (all[at].kind === "sign" && CLOSES[all[at].text]) at = closing(all, at);
  }
  return end === -1 ? [] : found;
}

/** The first token of the operand that ends at `index`: a value with its calls and members, such as `a.b(c)[d]`; or -1. */
export function operandStart(all, index) {
  let at = index;
  while (at >= 0) {
    if (all[at].text === ")" || all[at].text === "]") {
      at = opening(all, at);
      const owner = all[at - 1];
      const continues = owner && (owner.kind === "word" || owner.text === ")" || owner.text === "]");
      if (!continues) return at;
      at -= 1;
      continue;
    }
    if (all[at].kind === "sign" || all[at].kind === "template") return -1;
    if (all[at - 1]?.text !== "." && all[at - 1]?.text !== "?.") return at;
    at -= 2;
  }
  return -1;
}

/** The last token of the operand that begins at `index`, or -1. */
export function operandEnd(all, index) {
  let at = index;
  if (all[at] === undefined) return -1;
  if (all[at].text === "(") at = closing(all, at);
  else if (all[at].kind === "sign" || all[at].kind === "template") return -1;
  while (at !== -1 && at < all.length) {
    const next = all[at + 1]?.text;
    if (next === "." || next === "?.") at += 2;
    else if (next === "(" || next === "[") at = closing(all, at + 1);
    else return at;
  }
  return -1;
}

/** The last token of the expression that begins at `index`: up to the comma, semicolon or bracket that ends it. */
export function expressionEnd(all, index, stops = [",", ";", ")", "]", "}"]) {
  let at = index;
  while (at < all.length && !(all[at].kind === "sign" && stops.includes(all[at].text))) {
    if (all[at].kind === "sign" && CLOSES[all[at].text]) at = closing(all, at);
    if (at === -1) return -1;
    at += 1;
  }
  return at - 1;
}

/** The source text of the tokens from `first` to `last`. */
export function textOf(source, all, [first, last]) {
  return source.slice(all[first].start, all[last].end);
}
