/** The numbered invariants: ARCHITECTURE.md's list, and those in the heads of the core's files. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Numbered {
  /** `ARCHITECTURE.md` or a file of the core, from the root. */
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

/** A file's head is the comment that begins before its first declaration; a line of it that opens with a letter and a number is an invariant. */
function headOf(source: string): string {
  return [...source.matchAll(/^\/\*\*[\s\S]*?\*\//gm)].map(([comment]) => comment).find((comment) => /^ \* [A-Z]\d+\. /m.test(comment)) ?? "";
}
export function numberedInCore(root: string): Numbered[] {
  const files = globSync("packages/shared/src/core/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts")).sort();
  return files.flatMap((place) => {
    const lines = [...headOf(readFileSync(join(root, place), "utf8")).matchAll(/^ \* ([A-Z]\d+)\. (.+)$/gm)];
    return lines.map(([, number = "", text = ""]) => ({ place, number, text }));
  });
}
