import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { type Breach, everyNode, lineOf, type Source } from "./sources.ts";

/** What other people import: nobody in this checkout has to. */
const PUBLIC: ReadonlySet<string> = new Set(["packages/cli/src/config-api.ts", "packages/audit/src/index.ts"]);
/** The test runner calls the one by its name; the others take the place of a module for a process under test. */
const CALLED_BY_NAME = /^test\/(support\/parts\/global-setup\.ts$|.*\/fixtures\/)/;

/** One file as another one uses it: by these names, or null where any word of the importing file may be one. */
interface Use {
  readonly from: string;
  readonly names: ReadonlySet<string> | null;
}
interface Exported {
  readonly name: string;
  readonly position: number;
  /** A type that its own file speaks of spells what that file exports; it is exported so that others may name it. */
  readonly isSpelling: boolean;
}

/** Packages of the workspace by name: where their exports are, as patterns with at most one star. */
function workspace(root: string, sources: readonly Source[]): ReadonlyMap<string, readonly (readonly [string, string])[]> {
  const folders = new Set(sources.map(({ path }) => (path.startsWith("infra/") ? "infra" : path.split("/").slice(0, 2).join("/"))));
  const found = new Map<string, readonly (readonly [string, string])[]>();
  for (const folder of folders) {
    const file = join(root, folder, "package.json");
    if (!existsSync(file)) continue;
    const { name, exports = {} } = JSON.parse(readFileSync(file, "utf8")) as { name: string; exports?: Record<string, string> };
    found.set(name, Object.entries(exports).map(([key, path]) => [posix.join(name, key), posix.join(folder, path)]));
  }
  return found;
}

/** The file that a specifier stands for; null for what is no file of the checkout. */
function resolved(specifier: string, importer: string, packages: ReturnType<typeof workspace>): string | null {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(importer), specifier);
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : specifier.split("/", 1)[0];
  for (const [pattern, path] of packages.get(name ?? "") ?? []) {
    const [before = "", after] = pattern.split("*");
    if (after === undefined ? specifier === pattern : specifier.startsWith(before)) return path.replace("*", specifier.slice(before.length));
  }
  return null;
}

function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): ReadonlySet<string> | null {
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  const names = ts.isImportDeclaration(node) && node.importClause?.name ? ["default"] : [];
  if (bindings === undefined) return ts.isImportDeclaration(node) ? new Set(names) : null;
  if (!ts.isNamedImports(bindings) && !ts.isNamedExports(bindings)) return null;
  return new Set([...names, ...bindings.elements.map((one) => (one.propertyName ?? one.name).text)]);
}

/** Every file that a source names, in whatever form: statements, calls and types of `import`, and texts that are a path. */
function usesOf(source: Source): (readonly [string, ReadonlySet<string> | null])[] {
  const uses: (readonly [string, ReadonlySet<string> | null])[] = [];
  everyNode(source.ast, (node) => {
    if (!ts.isStringLiteralLike(node)) return;
    const parent = node.parent;
    const stands = ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent);
    uses.push([node.text, stands ? namesOf(parent) : null]);
  });
  return uses;
}

function isExported(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}
function exportsOf({ ast, text }: Source): Exported[] {
  return ast.statements.flatMap((statement): Exported[] => {
    const position = statement.getStart();
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, isTypeOnly } = statement;
      if (!exportClause || !ts.isNamedExports(exportClause)) return [];
      return exportClause.elements.map((one) => ({ name: one.name.text, position: one.getStart(), isSpelling: isTypeOnly || one.isTypeOnly }));
    }
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [{ name: name.text, position, isSpelling: false }] : []));
    }
    const { name } = statement as ts.DeclarationStatement;
    if (!name || !ts.isIdentifier(name)) return [];
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    return [{ name: name.text, position, isSpelling: isType && (text.match(new RegExp(`\\b${name.text}\\b`, "g")) ?? []).length > 1 }];
  });
}

/** Exports of the code that no other file imports. Tests count as other files. */
export function exportBreaches(root: string, sources: readonly Source[]): Breach[] {
  const packages = workspace(root, sources);
  const words = new Map(sources.map(({ path, text }) => [path, new Set(text.match(/[A-Za-z_$][\w$]*/g))]));
  const users = new Map<string, Use[]>();
  for (const source of sources) {
    for (const [specifier, names] of usesOf(source)) {
      const path = resolved(specifier, source.path, packages);
      if (path !== null) users.set(path, [...(users.get(path) ?? []), { from: source.path, names }]);
    }
  }
  const isUsed = (path: string, name: string): boolean =>
    (users.get(path) ?? []).some(({ from, names }) => names?.has(name) ?? (words.get(from)?.has(name) || isUsed(from, name)));
  const looked = sources.filter(({ path }) => !PUBLIC.has(path) && !CALLED_BY_NAME.test(path) && !path.endsWith(".d.mts"));
  return looked.flatMap((source) =>
    exportsOf(source).filter(({ name, isSpelling }) => !isSpelling && !isUsed(source.path, name)).map(({ name, position }) => ({
      path: source.path, line: lineOf(source, position), rule: "exports-are-imported", found: `nobody imports ${name}`,
      fix: "take the export away, or what it exports",
    })),
  );
}
