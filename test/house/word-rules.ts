import ts from "typescript";
import { type Breach, everyNode, lineOf, type Source } from "./sources.ts";

/** What a comment says when the work is not done. */
const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b|\b(for now|placeholder|not (yet )?implemented|unimplemented)\b/i;
const UNFINISHED_TEXT = /\b(not (yet )?implemented|unimplemented)\b/i;
const SILENCED = /@ts-(ignore|nocheck)\b/;

interface Comment {
  readonly position: number;
  readonly text: string;
}

function commentsOf(source: Source): Comment[] {
  const found = new Map<number, string>();
  const collect = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const range of ranges ?? []) found.set(range.pos, source.text.slice(range.pos, range.end));
  };
  const visit = (node: ts.Node): void => {
    collect(ts.getLeadingCommentRanges(source.text, node.getFullStart()));
    collect(ts.getTrailingCommentRanges(source.text, node.getEnd()));
    for (const child of node.getChildren(source.ast)) visit(child);
  };
  visit(source.ast);
  return [...found].map(([position, text]) => ({ position, text }));
}

function commentBreaches(source: Source): Breach[] {
  return commentsOf(source).flatMap(({ position, text }) => {
    const at = { path: source.path, line: lineOf(source, position) };
    const unfinished = UNFINISHED.exec(text);
    if (unfinished !== null) {
      const found = `a comment says "${unfinished[0]}"`;
      return [{ ...at, rule: "finished-work", found, fix: "finish it, or leave it out and say so in the README's limits" }];
    }
    if (SILENCED.test(text)) {
      const fix = "repair the type, or use @ts-expect-error with a reason";
      return [{ ...at, rule: "no-silenced-types", found: "the compiler is silenced", fix }];
    }
    return [];
  });
}

function isEmptyBody(node: ts.Node): node is ts.FunctionDeclaration | ts.MethodDeclaration {
  const named = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  return named && node.body !== undefined && node.body.statements.length === 0 && !/\/[/*]/.test(node.body.getText());
}

function stubBreaches(source: Source): Breach[] {
  const breaches: Breach[] = [];
  everyNode(source.ast, (node) => {
    const at = { path: source.path, line: lineOf(source, node.getStart()) };
    if (ts.isStringLiteralLike(node) && UNFINISHED_TEXT.test(node.text)) {
      const found = `a text says "${node.text.slice(0, 60)}"`;
      breaches.push({ ...at, rule: "no-stubs", found, fix: "do the work, or do not offer the call" });
    }
    if (!source.isTest && isEmptyBody(node)) {
      const found = `${node.name?.getText() ?? "a function"} does nothing`;
      breaches.push({ ...at, rule: "no-stubs", found, fix: "do the work, or say in the body why nothing is to be done" });
    }
  });
  return breaches;
}

/** A core file says what it owns and what it never does before its first line of code. */
function openingBreaches(source: Source): Breach[] {
  if (!source.path.startsWith("packages/shared/src/core/") || source.isTest) return [];
  const first = source.ast.statements.find((statement) => !ts.isImportDeclaration(statement));
  if (first === undefined || /\/[/*]/.test(source.text.slice(0, first.getStart()))) return [];
  const found = "there is no comment before the first line of code";
  const fix = "open with what the file owns, what it never does, its invariants";
  return [{ path: source.path, line: 1, rule: "core-opens-with-its-duty", found, fix }];
}

export function wordBreaches(sources: readonly Source[]): Breach[] {
  return sources
    .filter((source) => !source.path.startsWith("test/house/"))
    .flatMap((source) => [...commentBreaches(source), ...stubBreaches(source), ...openingBreaches(source)]);
}
