/** A page of the documentation as data: its files, its commands with their exit codes, and its tables by the heading above them. */
import { readFileSync } from "node:fs";
import { splitWords } from "loopledger/running/words";

export interface Page {
  /** Blocks that begin with a comment which names their file. */
  readonly files: ReadonlyMap<string, string>;
  /** Lines of `sh` blocks that say with which code they end; one that says none ends with 0. */
  readonly commands: readonly { readonly words: readonly string[]; readonly exit: number }[];
  /** What stands between backticks in the first cells of the tables under a heading, without what a call takes; sorted. */
  names(heading: string): string[];
  /** The row of the tables under a heading whose first cell has that name. */
  row(heading: string, name: string): string;
}

export function pageOf(path: string): Page {
  const text = readFileSync(path, "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({ language, body }));
  const files = blocks.flatMap(({ body }) => {
    const name = /^(?:\/\/|#) ([\w./-]+\.\w+):/.exec(body)?.[1];
    return name === undefined ? [] : [[name, body] as const];
  });
  const rows = rowsOf(text);
  return {
    files: new Map(files),
    commands: blocks.filter(({ language }) => language === "sh").flatMap(({ body }) => body.split("\n").filter((line) => line !== "").map(commandOf)),
    names: (heading) => rowsUnder(rows, heading).flatMap(({ names }) => names).sort(),
    row: (heading, name) => {
      const found = rowsUnder(rows, heading).filter(({ names }) => names.includes(name));
      if (found.length !== 1) throw new Error(`${path}: ${found.length} rows under "${heading}" have ${name}`);
      return found[0]?.text ?? "";
    },
  };
}

interface Row {
  readonly heading: string;
  readonly names: readonly string[];
  readonly text: string;
}
function rowsOf(text: string): Row[] {
  let heading = "";
  return text.replace(/^```[\s\S]*?^```$/gm, "").split("\n").flatMap((line) => {
    heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading;
    const first = /^\| (\[?`[^|]*) \|/.exec(line)?.[1];
    const names = [...(first ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace(/\(.*$/, ""));
    return first === undefined ? [] : [{ heading, names, text: line }];
  });
}
function rowsUnder(rows: readonly Row[], heading: string): Row[] {
  const found = rows.filter((row) => row.heading === heading);
  if (found.length === 0) throw new Error(`there is no table under "${heading}"`);
  return found;
}

function commandOf(line: string): Page["commands"][number] {
  const [command = "", remark = ""] = line.split(/\s+# /);
  const split = splitWords(command);
  if (!split.ok) throw new Error(`${line} cannot be split into words`);
  return { words: split.words.slice(1), exit: Number(/exit (\d+)/.exec(remark)?.[1] ?? 0) };
}
