import ts from "typescript";
import { type Breach, everyNode, lineOf, type Source } from "./sources.ts";

/** The one place that may look at a clock while it waits. */
const WAITING = "test/support/until.ts";
const NOT_RUN = new Set(["skip", "only", "todo", "fails", "skipIf", "runIf"]);
const RUNNERS = /^(describe|test|it|suite)$/;
const CLOCKS = new Set(["setTimeout", "setInterval", "sleep"]);

function rootName(expression: ts.Expression): string {
  let target = expression;
  while (ts.isPropertyAccessExpression(target) || ts.isCallExpression(target)) target = target.expression;
  return ts.isIdentifier(target) ? target.text : "";
}

function notRun(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node) && NOT_RUN.has(node.name.text) && RUNNERS.test(rootName(node.expression))) {
    return node.getText();
  }
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^x(describe|test|it)$/.test(node.expression.text)) {
    return node.expression.text;
  }
  return null;
}

function clockWait(node: ts.Node): string | null {
  if (ts.isCallExpression(node)) {
    const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    if (ts.isIdentifier(called) && CLOCKS.has(called.text)) return `${called.text}(…)`;
  }
  if (ts.isStringLiteral(node) && ts.isImportDeclaration(node.parent) && /^(node:)?timers(\/promises)?$/.test(node.text)) {
    return `import of ${node.text}`;
  }
  return null;
}

/** Programs that a test starts may hang on purpose. */
function isFixture(path: string): boolean {
  return /\/fixtures\//.test(path);
}

export function testBreaches(sources: readonly Source[]): Breach[] {
  const breaches: Breach[] = [];
  const tests = sources.filter(({ path, isTest }) => isTest && !path.startsWith("packages/shared/src/testing/"));
  for (const source of tests) {
    const mayWait = source.path === WAITING || isFixture(source.path);
    everyNode(source.ast, (node) => {
      const at = { path: source.path, line: lineOf(source, node.getStart()) };
      const unrun = notRun(node);
      if (unrun !== null) {
        breaches.push({ ...at, rule: "every-test-runs", found: unrun, fix: "run it, or delete it" });
      }
      const wait = mayWait ? null : clockWait(node);
      if (wait !== null) {
        const fix = "wait on the condition: `until(condition, { what })` of test/support/until.ts";
        breaches.push({ ...at, rule: "no-clock-waits", found: wait, fix });
      }
    });
  }
  return breaches;
}
