/**
 * @typedef {{ kind: "word" | "number" | "string" | "template" | "regex" | "sign", text: string, start: number, end: number }} Token
 */

const SIGNS =
  /^(>>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|\*\*|[{}()[\];,<>+\-*/%&|^!~?:=.@#])/;
const BLANK = /^(\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/;
const WORD = /^[\p{ID_Start}$_][\p{ID_Continue}$]*/u;
const NUMBER = /^(0[xob][\da-f_]+n?|(\d[\d_]*)?\.?\d[\d_]*(e[+-]?\d+)?n?)/i;
const STRING = /^("(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')/;
const REGEX = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/;
/** After one of these a slash begins a regular expression; after a value it divides. */
const BEFORE_EXPRESSION = new Set(["return", "typeof", "case", "in", "of", "await", "yield", "void", "delete", "throw", "else"]);

/**
 * The words, numbers, strings and signs of a JavaScript source, without blanks and comments. Enough to edit code by
 * single places; what it cannot read it skips a character at a time, and a wrong edit fails in its trial.
 * @param {string} source
 * @returns {Token[]}
 */
export function tokens(source) {
  const found = [];
  scan(source, 0, found, false);
  return found;
}

/** Reads to the end, or inside a template to the brace that closes the expression. Returns where it stopped. */
function scan(source, from, found, inTemplate) {
  let at = from;
  let depth = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    const blank = BLANK.exec(rest);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    if (inTemplate && rest[0] === "}" && depth === 0) return at;
    if (rest[0] === "{") depth += 1;
    if (rest[0] === "}") depth -= 1;
    at = rest[0] === "`" ? template(source, at, found) : next(rest, at, found);
  }
  return at;
}

function next(rest, at, found) {
  const kinds = [
    ["word", WORD],
    ["number", NUMBER],
    ["string", STRING],
    ...(expressionMayBegin(found.at(-1)) ? [["regex", REGEX]] : []),
    ["sign", SIGNS],
  ];
  for (const [kind, pattern] of kinds) {
    const match = pattern.exec(rest);
    if (match === null || match[0] === "") continue;
    found.push({ kind, text: match[0], start: at, end: at + match[0].length });
    return at + match[0].length;
  }
  return at + 1;
}

/** A template's text pieces are tokens of kind "template"; the expressions between them are read as code. */
function template(source, from, found) {
  let at = from + 1;
  let begun = from;
  while (at < source.length) {
    if (source[at] === "\\") at += 2;
    else if (source[at] === "`") break;
    else if (source.startsWith("${", at)) {
      found.push({ kind: "template", text: source.slice(begun, at + 2), start: begun, end: at + 2 });
      at = scan(source, at + 2, found, true);
      begun = at;
      at += 1;
    } else at += 1;
  }
  found.push({ kind: "template", text: source.slice(begun, at + 1), start: begun, end: at + 1 });
  return at + 1;
}

function expressionMayBegin(last) {
  if (last === undefined) return true;
  if (last.kind === "word") return BEFORE_EXPRESSION.has(last.text);
  if (last.kind === "template") return last.text.endsWith("${");
  return last.kind === "sign" && ![")", "]", "}"].includes(last.text);
}
