import { glob, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

async function isFile(path: string): Promise<boolean> {
  return stat(path).then((found) => found.isFile(), () => false);
}

/** Existing files inside the folder that a command's words name, relative to it. */
export async function namedFiles(words: readonly string[], folder: string): Promise<string[]> {
  const named: string[] = [];
  for (const word of words) {
    const value = word.startsWith("-") && word.includes("=") ? word.slice(word.indexOf("=") + 1) : word;
    if (value === "" || value.length > 4096) continue;
    const path = relative(folder, resolve(folder, value));
    if (path === "" || path.startsWith("..") || isAbsolute(path)) continue;
    if (await isFile(join(folder, path))) named.push(path.split(sep).join("/"));
  }
  return named;
}

/** Files that the patterns match, relative to the folder. A pattern that is a folder stands for all files in it. */
export async function filesOf(patterns: readonly string[], folder: string): Promise<string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const whole = await stat(resolve(folder, pattern)).then((there) => there.isDirectory(), () => false);
    const matches = glob(whole ? `${pattern.replace(/\/+$/, "")}/**` : pattern, { cwd: folder, exclude: (name) => name === "node_modules" || name === ".git" });
    for await (const match of matches) {
      if (await isFile(resolve(folder, match))) found.add(match.split(sep).join("/"));
    }
  }
  return [...found];
}
