/**
 * Each rule looks at one token and proposes edits: single mistakes that people make, undone. `weight` says how often a
 * mistake of that kind is the right guess, 0 to 1; the search multiplies it with how suspicious the place is.
 * @typedef {{ start: number, end: number, text: string, kind: string, weight: number }} Edit
 * @typedef {{ source: string, all: import("./tokens.mjs").Token[], index: number, names: Names }} Place
 * @typedef {{ numbers: string[], strings: string[], members: string[], words: (offset: number) => string[], isAsync: (offset: number) => boolean }} Names
 *   what else the file mentions, as material for wrong-constant and wrong-name edits
 */
import { closing, expressionEnd, operandEnd, operandStart, parts, textOf } from "./structure.mjs";

const SIGNS = {
  "<": [["<=", "boundary", 1], [">", "comparison", 0.7], [">=", "comparison", 0.6]],
  "<=": [["<", "boundary", 1], [">=", "comparison", 0.7], [">", "comparison", 0.6]],
  ">": [[">=", "boundary", 1], ["<", "comparison", 0.7], ["<=", "comparison", 0.6]],
  ">=": [[">", "boundary", 1], ["<=", "comparison", 0.7], ["<", "comparison", 0.6]],
  "===": [["!==", "negation", 0.8]],
  "!==": [["===", "negation", 0.8]],
  "==": [["!=", "negation", 0.8]],
  "!=": [["==", "negation", 0.8]],
  "+": [["-", "operator", 0.85]],
  "-": [["+", "operator", 0.85]],
  "*": [["/", "operator", 0.85]],
  "/": [["*", "operator", 0.85]],
  "%": [["/", "operator", 0.6], ["*", "operator", 0.5]],
  "&&": [["||", "logic", 0.8], ["??", "logic", 0.3]],
  "||": [["&&", "logic", 0.8], ["??", "logic", 0.7]],
  "??": [["||", "logic", 0.7], ["&&", "logic", 0.3]],
  "+=": [["-=", "operator", 0.8], ["=", "operator", 0.6]],
  "-=": [["+=", "operator", 0.8], ["=", "operator", 0.5]],
  "*=": [["/=", "operator", 0.7], ["+=", "operator", 0.5]],
  "/=": [["*=", "operator", 0.7]],
  "=": [["+=", "operator", 0.4]],
  "++": [["--", "operator", 0.7]],
  "--": [["++", "operator", 0.7]],
  "!": [["", "negation", 0.8]],
};

/** Methods that are mistaken for one another. */
const FAMILIES = [
  ["round", "floor", "ceil", "trunc"],
  ["min", "max"],
  ["some", "every"],
  ["push", "unshift"],
  ["pop", "shift"],
  ["slice", "splice"],
  ["startsWith", "endsWith", "includes"],
  ["padStart", "padEnd"],
  ["trim", "trimStart", "trimEnd"],
  ["toUpperCase", "toLowerCase"],
  ["indexOf", "lastIndexOf"],
  ["find", "findLast", "filter"],
  ["keys", "values", "entries"],
  ["map", "flatMap"],
  ["getDate", "getDay", "getUTCDate", "getUTCDay"],
  ["getFullYear", "getUTCFullYear"],
  ["getMonth", "getUTCMonth"],
  ["getHours", "getUTCHours"],
];

const KEYWORDS = new Set(
  `async await break case catch class const continue default delete do else export extends finally for
   from function if import in instanceof let new null of return static super switch this throw true
   false try typeof undefined var void while yield`.split(/\s+/),
);

/** @type {((place: Place) => Edit[])[]} */
export const RULES = [signs, negations, methods, literals, numbers, strings, callArguments, operands, branches, awaits, comparators, names];

export function isName(token) {
  return token.kind === "word" && !KEYWORDS.has(token.text);
}

function edit(token, text, kind, weight) {
  return { start: token.start, end: token.end, text, kind, weight };
}

function signs({ all, index }) {
  const token = all[index];
  if (token.kind !== "sign") return [];
  return (SIGNS[token.text] ?? []).map(([text, kind, weight]) => edit(token, text, kind, weight));
}

/** A condition that was meant the other way round. */
function negations({ all, index }) {
  const before = all[index - 1];
  const opens = before && (["return", "&&", "||", "?"].includes(before.text) || (before.text === "(" && all[index - 2]?.text === "if"));
  if (!opens || all[index].kind !== "word") return [];
  return [{ start: all[index].start, end: all[index].start, text: "!", kind: "negation", weight: 0.5 }];
}

function methods({ all, index }) {
  const token = all[index];
  if (token.kind !== "word" || all[index - 1]?.text !== ".") return [];
  const family = FAMILIES.find((names) => names.includes(token.text)) ?? [];
  return family.filter((name) => name !== token.text).map((name) => edit(token, name, "method", 0.8));
}

function literals({ all, index }) {
  const other = { true: "false", false: "true" }[all[index].text];
  return other && all[index].kind === "word" ? [edit(all[index], other, "constant", 0.7)] : [];
}

function numbers({ all, index, names: { numbers: others } }) {
  const token = all[index];
  const value = Number(token.text.replaceAll("_", ""));
  if (token.kind !== "number" || !Number.isFinite(value)) return [];
  const near = [value + 1, value - 1].filter((n) => n >= 0).map((n) => edit(token, String(n), "off by one", 0.75));
  const scaled = [value * 10, value / 10, value * 100, value / 100, 0, 1].map((n) => edit(token, String(n), "constant", 0.5));
  const borrowed = others.map((text) => edit(token, text, "constant", 0.45));
  return [...near, ...scaled, ...borrowed];
}

function strings({ all, index, names: { strings: others } }) {
  if (all[index].kind !== "string" || ["from", "import"].includes(all[index - 1]?.text)) return [];
  return others.map((text) => edit(all[index], text, "constant", 0.4));
}

/** Two neighbouring arguments of a call in the wrong order. */
function callArguments({ source, all, index }) {
  const callee = all[index - 1];
  const isCall = all[index].text === "(" && callee && (isName(callee) || [")", "]"].includes(callee.text));
  if (!isCall || all[index - 2]?.text === "function") return [];
  const end = closing(all, index);
  if (end === -1 || ["{", "=>"].includes(all[end + 1]?.text)) return [];
  const given = parts(all, index);
  return given.slice(1).map((second, i) => swapped(source, all, { left: given[i], right: second, kind: "argument order", weight: 0.9 }));
}

function swapped(source, all, { left, right, kind, weight }) {
  const between = source.slice(all[left[1]].end, all[right[0]].start);
  const text = `${textOf(source, all, right)}${between}${textOf(source, all, left)}`;
  return { start: all[left[0]].start, end: all[right[1]].end, text, kind, weight };
}

/** a - b where b - a was meant. */
function operands({ source, all, index }) {
  if (all[index].kind !== "sign" || !["-", "/", "%"].includes(all[index].text)) return [];
  const left = operandStart(all, index - 1);
  const right = operandEnd(all, index + 1);
  if (left === -1 || right === -1) return [];
  return [swapped(source, all, { left: [left, index - 1], right: [index + 1, right], kind: "operand order", weight: 0.75 })];
}

/** The two ways of a conditional expression, exchanged. */
function branches({ source, all, index }) {
  if (all[index].text !== "?") return [];
  const first = expressionEnd(all, index + 1, [":", ",", ";", ")", "]", "}"]);
  if (first < index + 1 || all[first + 1]?.text !== ":") return [];
  const second = expressionEnd(all, first + 2);
  if (second < first + 2) return [];
  return [swapped(source, all, { left: [index + 1, first], right: [first + 2, second], kind: "branch order", weight: 0.7 })];
}

/** A call whose promise was used as if it were its value. */
function awaits({ all, index, names: { isAsync } }) {
  const before = all[index - 1]?.text;
  if (!isName(all[index]) || !isAsync(all[index].start) || !["=", "+=", "return", "(", ",", "+", "!", "&&", "||", "of"].includes(before ?? "")) return [];
  const end = operandEnd(all, index);
  if (end === -1 || all[end].text !== ")") return [];
  return [{ start: all[index].start, end: all[index].start, text: "await ", kind: "missing await", weight: 0.9 }];
}

/** Numbers sorted as text. */
function comparators({ all, index }) {
  const plain = ["sort", "toSorted"].includes(all[index].text) && all[index + 1]?.text === "(" && all[index + 2]?.text === ")";
  if (!plain || all[index - 1]?.text !== ".") return [];
  return [{ start: all[index + 1].start, end: all[index + 2].end, text: "((a, b) => a - b)", kind: "comparator", weight: 0.8 }];
}

/** The wrong variable, or the wrong member of the right one. */
function names({ all, index, names: known }) {
  const token = all[index];
  if (!isName(token)) return [];
  const member = [".", "?."].includes(all[index - 1]?.text);
  const others = member ? known.members : known.words(token.start);
  return others.filter((name) => name !== token.text).map((name) => edit(token, name, "name", member ? 0.3 : 0.4));
}
