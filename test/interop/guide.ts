/** The programs of the guide, as they stand there: a block begins with a comment that names its file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dirname, "../../docs/guides/other-languages.md");

export interface Block {
  readonly language: string;
  readonly text: string;
}
export function blocks(): readonly Block[] {
  return [...readFileSync(path, "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** The file's name where the block is a program; null for what is none. */
export function fileOf({ text }: Block): string | null {
  return /^(?:\/\/|#) ([\w-]+\.(?:java|py)):/.exec(text)?.[1] ?? null;
}
export function programs(): ReadonlyMap<string, string> {
  return new Map(blocks().flatMap((block) => {
    const file = fileOf(block);
    return file === null ? [] : [[file, block.text]];
  }));
}
