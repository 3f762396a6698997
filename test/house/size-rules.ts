import ts from "typescript";
import { type Breach, everyNode, isTestCall, lineOf, type Source } from "./sources.ts";

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const FUNCTION_LINES_P90_MAX = 40;
const PARAMETERS_MAX = 3;
const MAIN_LINES_MAX = 60;
const PORT_LINES_MAX = 40;

function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

function nodeLines(source: Source, node: ts.Node): number {
  return lineOf(source, node.getEnd()) - lineOf(source, node.getStart()) + 1;
}

/** The lines of a function. In tests, the bodies given to `describe` and `test` are measured on their own. */
function ownLines(source: Source, declared: ts.Node): number {
  let lines = nodeLines(source, declared);
  if (!source.isTest) return lines;
  const subtract = (node: ts.Node): void => {
    if (isTestCall(node)) lines -= nodeLines(source, node);
    else node.forEachChild(subtract);
  };
  declared.forEachChild(subtract);
  return lines;
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent)) return node.parent.name.getText();
  return ts.isConstructorDeclaration(node) ? "the constructor" : "this function";
}

function functionsOf(source: Source): ts.SignatureDeclaration[] {
  const found: ts.SignatureDeclaration[] = [];
  everyNode(source.ast, (node) => {
    if (ts.isFunctionLike(node)) found.push(node);
  });
  return found;
}

function hasBody(node: ts.SignatureDeclaration): boolean {
  return "body" in node && node.body !== undefined;
}

function functionBreaches(source: Source): Breach[] {
  return functionsOf(source).flatMap((node) => {
    const at = { path: source.path, line: lineOf(source, node.getStart()) };
    const breaches: Breach[] = [];
    const lines = hasBody(node) ? ownLines(source, node) : 0;
    if (lines > FUNCTION_LINES_MAX) {
      const found = `${nameOf(node)} has ${lines} lines`;
      breaches.push({ ...at, rule: "function-lines", found, fix: `split it: at most ${FUNCTION_LINES_MAX}` });
    }
    const parameters = node.parameters.filter((parameter) => parameter.name.getText() !== "this").length;
    if (parameters > PARAMETERS_MAX) {
      const found = `${nameOf(node)} takes ${parameters} parameters`;
      breaches.push({ ...at, rule: "parameters", found, fix: `at most ${PARAMETERS_MAX}, then an options object` });
    }
    return breaches;
  });
}

function fileBreaches(source: Source): Breach[] {
  const lines = countLines(source.text);
  if (lines <= FILE_LINES_MAX) return [];
  const fix = `split it by what it is about: at most ${FILE_LINES_MAX}`;
  return [{ path: source.path, line: 1, rule: "file-lines", found: `the file has ${lines} lines`, fix }];
}

const BRANCHES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.SwitchStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
]);

function mainBreaches(source: Source): Breach[] {
  if (!/\/src\/main\.ts$/.test(source.path)) return [];
  const breaches: Breach[] = [];
  const lines = countLines(source.text);
  if (lines > MAIN_LINES_MAX) {
    const found = `main.ts has ${lines} lines`;
    breaches.push({ path: source.path, line: 1, rule: "main-lines", found, fix: `wiring only: at most ${MAIN_LINES_MAX}` });
  }
  everyNode(source.ast, (node) => {
    if (!BRANCHES.has(node.kind)) return;
    const line = lineOf(source, node.getStart());
    const fix = "main.ts wires; move the decision into the shell or the config";
    breaches.push({ path: source.path, line, rule: "main-branches", found: "main.ts branches", fix });
  });
  return breaches;
}

function portBreaches(source: Source): Breach[] {
  if (!source.path.startsWith("packages/shared/src/ports/")) return [];
  return source.ast.statements.filter(ts.isInterfaceDeclaration).flatMap((port) => {
    const lines = nodeLines(source, port);
    if (lines <= PORT_LINES_MAX) return [];
    const found = `the port ${port.name.text} has ${lines} lines`;
    const fix = `a port that small is easy to implement twice: at most ${PORT_LINES_MAX}`;
    return [{ path: source.path, line: lineOf(source, port.getStart()), rule: "port-lines", found, fix }];
  });
}

/** Nine of ten named functions are short, so that the long ones stay exceptions. */
function distributionBreaches(sources: readonly Source[]): Breach[] {
  const lengths = sources
    .filter((source) => !source.isTest)
    .flatMap((source) =>
      functionsOf(source)
        .filter((node) => hasBody(node) && !ts.isArrowFunction(node))
        .map((node) => ({ lines: nodeLines(source, node), source, node })),
    )
    .sort((left, right) => left.lines - right.lines);
  const p90 = lengths[Math.floor(lengths.length * 0.9)];
  if (p90 === undefined || p90.lines <= FUNCTION_LINES_P90_MAX) return [];
  const found = `one function in ten has ${p90.lines} lines or more`;
  const fix = `split some of the long ones (this one, say): the 90th percentile is at most ${FUNCTION_LINES_P90_MAX}`;
  return [{ path: p90.source.path, line: lineOf(p90.source, p90.node.getStart()), rule: "function-lines-p90", found, fix }];
}

export function sizeBreaches(sources: readonly Source[]): Breach[] {
  const each = sources.flatMap((source) => [
    ...fileBreaches(source),
    ...functionBreaches(source),
    ...mainBreaches(source),
    ...portBreaches(source),
  ]);
  return [...each, ...distributionBreaches(sources)];
}
