/** A second core beside the real one, in which one file is changed. */
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mutant } from "./mutants.ts";

export interface Grafting {
  readonly real: string;
  readonly copy: string;
  readonly mutant: Mutant;
}
interface Source {
  readonly text: string;
  /** Files that it imports for more than their types. */
  readonly imports: readonly string[];
}
const sources = new Map<string, ReadonlyMap<string, Source>>();

/** What stands on the changed file is copied; everything else is a link to the real one. */
export function graft({ real, copy, mutant }: Grafting): void {
  const files = sources.get(real) ?? readAll(real);
  sources.set(real, files);
  const changed = files.get(mutant.file)?.text ?? "";
  if (changed.split(mutant.from).length !== 2) throw new Error(`${mutant.file} does not hold exactly once: ${mutant.from}`);
  const copied = standingOn(mutant.file, files);
  const folders = new Set([...copied].map(dirname));
  for (const folder of folders) mkdirSync(join(copy, folder), { recursive: true });
  for (const folder of allFolders(files)) {
    const parent = dirname(folder);
    const isLinked = !folders.has(folder) && ![...folders].some((one) => one.startsWith(`${folder}/`));
    if (isLinked && (parent === "." || folders.has(parent))) symlinkSync(join(real, folder), join(copy, folder));
  }
  for (const [path, { text }] of files) {
    const to = join(copy, path);
    if (copied.has(path)) writeFileSync(to, path === mutant.file ? text.replace(mutant.from, () => mutant.to) : text);
    else if (folders.has(dirname(path)) || dirname(path) === ".") symlinkSync(join(real, path), to);
  }
}

function readAll(real: string): ReadonlyMap<string, Source> {
  const paths = readdirSync(real, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name.endsWith(".ts") && !one.name.endsWith(".test.ts")).map((one) => relative(real, join(one.parentPath, one.name)));
  return new Map(paths.map((path) => {
    const text = readFileSync(join(real, path), "utf8");
    const imports = [...text.matchAll(/^(?:import|export) (?!type )[^;]*? from "(\.[^"]+)";$/gm)].map(([, from]) => join(dirname(path), from ?? ""));
    return [path, { text, imports }];
  }));
}

function standingOn(file: string, files: ReadonlyMap<string, Source>): ReadonlySet<string> {
  const found = new Set([file]);
  for (const one of found) for (const [path, { imports }] of files) if (imports.includes(one)) found.add(path);
  return found;
}
function allFolders(files: ReadonlyMap<string, Source>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of files.keys()) for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  return folders;
}
