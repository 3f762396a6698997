/** Commands as texts name them: in strings of the sources, and in the code of documents. */
import { readFileSync } from "node:fs";
import { splitWords } from "loopledger/running/words";
import ts from "typescript";

export interface Named {
  readonly place: string;
  /** The words behind `loopledger`. */
  readonly words: readonly string[];
}

/** What stands in the place of an expression: a word, or what that expression always gives. */
const given: Readonly<Record<string, string>> = { raise: "--iterations +5", how: "--happened" };

/** Commands in the string literals of a TypeScript file: whole texts, and what stands between backticks within one. */
export function namedInSource(path: string): Named[] {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Named[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== null) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(...namedIn(text).map((words) => ({ place: `${path}:${line + 1}`, words })));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Commands in a document: lines of its code, and code within its lines. */
export function namedInDocument(path: string): Named[] {
  let code = false;
  return readFileSync(path, "utf8").split("\n").flatMap((line, index) => {
    if (line.startsWith("```")) code = !code;
    const texts = code || line.startsWith("    ") ? [line.trim().replace(/^\$ /, "")] : [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
    const plain = texts.map((text) => text.replace(/^(?:\S*\/)?bin\/loopledger /, "loopledger "));
    return plain.flatMap(namedIn).map((words) => ({ place: `${path}:${index + 1}`, words }));
  });
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => (given[span.expression.getText()] ?? "X") + span.literal.text).join("");
}

function namedIn(text: string): string[][] {
  const inner = [...text.matchAll(/`(loopledger [^`]+)`/g)].map((match) => match[1] ?? "");
  // A text that ends in a blank is the beginning of one.
  const whole = inner.length === 0 && !text.endsWith(" ") && /(^|&& |while )loopledger [a-z]/.test(text) ? [text] : [];
  return [...inner, ...whole].flatMap((one) => one.split(/ && | \|\| |; | [|<>] /)).map((one) => one.trim().replace(/^while /, "").replace(/\s+# .*$/, ""))
    .filter((one) => /^loopledger [a-z]/.test(one)).flatMap((one) => {
      const split = splitWords(one);
      return split.ok ? [split.words.slice(1)] : [];
    }).filter((words) => !words.includes("…"));
}
