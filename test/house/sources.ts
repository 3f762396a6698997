import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** One TypeScript or JavaScript file of the checkout. */
export interface Source {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly ast: ts.SourceFile;
  /** Tests and what only tests use. */
  readonly isTest: boolean;
}

/** One breach of a house rule; `fix` says what to do about it. */
export interface Breach {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly found: string;
  readonly fix: string;
}

/** Examples are other people's projects, bugs included: they keep their own manners. */
const FOLDERS = ["packages", "services", "infra", "test", "scripts"];
const IGNORED = new Set(["node_modules", "dist", "coverage"]);

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.name.startsWith(".") || IGNORED.has(entry.name)) return [];
    if (entry.isDirectory()) return walk(root, path);
    return entry.isFile() ? [path] : [];
  });
}

/** All files below the folders that hold code, as paths from the root. */
export function listFiles(root: string): string[] {
  return FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) => walk(root, folder));
}

function isTestPath(path: string): boolean {
  return /\.test\.ts$/.test(path) || /(^|\/)test\//.test(path) || path.startsWith("packages/shared/src/testing/");
}

/** Reads one file; null for what is no code, and for a file that was removed since it was listed. */
function readSource(root: string, path: string): Source | null {
  if (!/\.(ts|mts|mjs|js)$/.test(path) || path.endsWith(".d.ts")) return null;
  try {
    const text = readFileSync(join(root, path), "utf8");
    const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
    return { path, text, ast, isTest: isTestPath(path) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function readSources(root: string): Source[] {
  return listFiles(root).flatMap((path) => readSource(root, path) ?? []);
}

export function lineOf(source: Source, position: number): number {
  return source.ast.getLineAndCharacterOfPosition(position).line + 1;
}

/** Calls `visit` for a node and everything below it. */
export function everyNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => everyNode(child, visit));
}

/** Whether `node` is a call of `describe`, `test`, `it` or a hook, in any of their forms (`test.each(…)(…)`). */
export function isTestCall(node: ts.Node): node is ts.CallExpression {
  if (!ts.isCallExpression(node)) return false;
  let target: ts.Expression = node.expression;
  while (ts.isPropertyAccessExpression(target) || ts.isCallExpression(target)) target = target.expression;
  return ts.isIdentifier(target) && /^(describe|test|it|before(All|Each)|after(All|Each))$/.test(target.text);
}
