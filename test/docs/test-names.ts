/** The names of the tests of a file, as its source spells them: titles of tables keep their `$name` and `%s`. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

const groups = /^(describe|suite)$/;
const tests = /^(test|it)$/;

function rootName(expression: ts.Expression): string {
  let target = expression;
  while (ts.isPropertyAccessExpression(target) || ts.isCallExpression(target)) target = target.expression;
  return ts.isIdentifier(target) ? target.text : "";
}
function titleOf(call: ts.CallExpression): string | null {
  const [first] = call.arguments;
  if (first === undefined) return null;
  if (ts.isStringLiteralLike(first)) return first.text;
  if (!ts.isTemplateExpression(first)) return null;
  return first.head.text + first.templateSpans.map((span) => `\${${span.expression.getText()}}${span.literal.text}`).join("");
}

export interface TestName {
  readonly title: string;
  /** The groups that it stands in, outermost first, and the title. */
  readonly whole: readonly string[];
}

const known = new Map<string, readonly TestName[]>();

/** Every test of a file, with the groups around it; also those that it has from a file beside it which only makes tests. */
export function testNames(path: string): readonly TestName[] {
  const names = known.get(path) ?? namesWith(path, new Set([path]));
  known.set(path, names);
  return names;
}

function namesWith(path: string, seen: Set<string>): TestName[] {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  const found: TestName[] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    const title = ts.isCallExpression(node) ? titleOf(node) : null;
    const name = ts.isCallExpression(node) ? rootName(node.expression) : "";
    if (title !== null && tests.test(name)) found.push({ title, whole: [...around, title] });
    const inside = title !== null && groups.test(name) ? [...around, title] : around;
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(file, []);
  return [...found, ...makersOf(file, path).filter((one) => !seen.has(one)).flatMap((one) => namesWith(one, seen.add(one)))];
}
/** Files in the same folder that this one imports and that are no tests by themselves. */
function makersOf(file: ts.SourceFile, path: string): string[] {
  return file.statements.filter(ts.isImportDeclaration).flatMap(({ moduleSpecifier }) => {
    const from = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
    return /^\.\/[^/]+\.ts$/.test(from) && !from.endsWith(".test.ts") ? [join(dirname(path), from)] : [];
  });
}

const separator = " › ";
/** A test of the file goes by this name: its title, or with groups before it, from the innermost outwards. */
export function isNamed(names: readonly TestName[], wanted: string): boolean {
  const parts = wanted.split(separator);
  return names.some(({ whole }) => whole.slice(-parts.length).join(separator) === wanted);
}
