import { isName, RULES } from "./rules.mjs";
import { tokens } from "./tokens.mjs";

/**
 * @typedef {import("./rules.mjs").Edit & { file: string, priority: number }} Candidate
 */

/**
 * All single edits of the suspected files, the most promising first: how suspicious the place is, times how likely the
 * kind of mistake is; what the failure's own message names comes before all else. Equal ones stand in the order of the
 * source, so that the same input gives the same search.
 * @param {{ file: string, source: string, at: (offset: number) => number }[]} suspected
 * @param {string} [reason] what the failing test said
 * @returns {Candidate[]}
 */
export function candidates(suspected, reason = "") {
  const named = /([\w$]+) is not (?:defined|a function|iterable)/.exec(reason)?.[1];
  const found = suspected.flatMap(({ file, source, at }) =>
    edits(source)
      .map((edit) => ({ ...edit, weight: source.slice(edit.start, edit.end) === named ? 1 + edit.weight : edit.weight }))
      .map((edit) => ({ ...edit, file, priority: at(edit.start) * edit.weight }))
      .filter(({ priority }) => priority > 0),
  );
  return found.sort((a, b) => b.priority - a.priority);
}

/** The source with one edit made. */
export function apply(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

function edits(source) {
  const all = tokens(source);
  const names = mentioned(all);
  const seen = new Set([source]);
  const found = [];
  for (const index of all.keys()) {
    for (const edit of RULES.flatMap((rule) => rule({ source, all, index, names }))) {
      const result = apply(source, edit);
      if (seen.has(result)) continue;
      seen.add(result);
      found.push(edit);
    }
  }
  return found;
}

/** @returns {import("./rules.mjs").Names} */
function mentioned(all) {
  const distinct = (list) => [...new Set(list.map(({ text }) => text))];
  const isMember = (index) => [".", "?."].includes(all[index - 1]?.text);
  const statements = topLevel(all);
  const around = (offset) => {
    const [first, last] = statements.find(([, end]) => all[end].end > offset) ?? [0, -1];
    return { first, statement: all.slice(first, last + 1) };
  };
  return {
    numbers: distinct(all.filter(({ kind }) => kind === "number")),
    strings: distinct(all.filter(({ kind }, i) => kind === "string" && !["from", "import"].includes(all[i - 1]?.text))),
    members: distinct(all.filter((token, i) => isName(token) && isMember(i))),
    words: (offset) => {
      const { first, statement } = around(offset);
      return distinct(statement.filter((token, i) => isName(token) && !isMember(first + i)));
    },
    isAsync: (offset) => around(offset).statement.some(({ text, start }) => text === "async" && start < offset),
  };
}

/** The statements outside of all braces, as [first, last]: names of one function mean nothing in another. */
function topLevel(all) {
  const found = [];
  let depth = 0;
  let first = 0;
  for (const [index, { kind, text }] of all.entries()) {
    if (kind !== "sign") continue;
    if (["{", "(", "["].includes(text)) depth += 1;
    if (["}", ")", "]"].includes(text)) depth -= 1;
    if (depth === 0 && ["}", ";"].includes(text)) {
      found.push([first, index]);
      first = index + 1;
    }
  }
  if (first < all.length) found.push([first, all.length - 1]);
  return found;
}
