/** The numbered invariants: ARCHITECTURE.md's list, and those in the heads of files. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Numbered {
  /** `ARCHITECTURE.md` or a file, from the root. */
  readonly place: string;
  readonly number: string;
  readonly text: string;
}

function section(text: string, heading: string): string {
  const start = text.indexOf(`\n## ${heading}\n`);
  const end = text.indexOf("\n## ", start + 1);
  return start < 0 ? "" : text.slice(start, end < 0 ? undefined : end);
}
export function numberedInArchitecture(root: string): Numbered[] {
  const listed = section(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"), "Invariants");
  return [...listed.matchAll(/^(\d+)\. (.+)$/gm)].map(([, number = "", text = ""]) => ({ place: "ARCHITECTURE.md", number, text }));
}

/** Product files; tests, and what a build or an install leaves, are none. */
const ofTheProduct = ["packages/*/src/**/*.ts", "services/*/src/**/*.ts", "infra/**/*.ts"];

/**
 * The invariants in the comments of files outside any declaration: a line that opens with a letter and a number. A head has them most
 * often, and a class further down may have a list of its own; then no number stands twice in a file.
 */
export function numberedInFiles(root: string, globs: readonly string[] = ofTheProduct): Numbered[] {
  const found = globSync([...globs], { cwd: root, exclude: (path) => path.split("/").includes("node_modules") });
  const files = found.filter((path) => !path.endsWith(".test.ts") && !path.includes("node_modules/")).sort();
  return files.flatMap((place) => {
    const comments = [...readFileSync(join(root, place), "utf8").matchAll(/^\/\*\*[\s\S]*?\*\//gm)].map(([comment]) => comment);
    return comments.flatMap((comment) => [...comment.matchAll(/^ \* ([A-Z]\d+)\. (.+)$/gm)]).map(([, number = "", text = ""]) => ({ place, number, text }));
  });
}
