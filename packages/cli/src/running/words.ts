/** Splits a command into words as a POSIX shell does, without being one: quotes and backslashes count, nothing is expanded. */

export type Split = { readonly ok: true; readonly words: readonly string[] } | { readonly ok: false; readonly fault: string };

const operators = new Set(["|", "&", ";", "<", ">", "(", ")"]);
/** What a backslash may take the meaning from inside double quotes. */
const escapable = new Set(["$", "`", '"', "\\", "\n"]);

/** The words of a command, or why it cannot be split: unbalanced quotes, a backslash at its end, an operator that only a shell knows. */
export function splitWords(command: string): Split {
  const words: string[] = [];
  /** null = between words; an empty pair of quotes makes an empty word. */
  let word: string | null = null;
  for (let at = 0; at < command.length; at++) {
    const char = command[at] ?? "";
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(command, at) : doubleQuoted(command, at);
      if (quoted === null) return { ok: false, fault: `the quote ${char} at position ${at + 1} is not closed` };
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (char === "\\") {
      if (at + 1 === command.length) return { ok: false, fault: "it ends in a backslash that escapes nothing" };
      const next = command[++at] ?? "";
      if (next !== "\n") word = (word ?? "") + next;
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (operators.has(char)) {
      return { ok: false, fault: `${char} means something to a shell only; quote it, or give the whole to a shell with --shell` };
    } else word = (word ?? "") + char;
  }
  if (word !== null) words.push(word);
  return words.length === 0 || words[0] === "" ? { ok: false, fault: "it names no program" } : { ok: true, words };
}

interface Quoted { readonly text: string; readonly end: number }

function singleQuoted(command: string, start: number): Quoted | null {
  const end = command.indexOf("'", start + 1);
  return end === -1 ? null : { text: command.slice(start + 1, end), end };
}
function doubleQuoted(command: string, start: number): Quoted | null {
  let text = "";
  for (let at = start + 1; at < command.length; at++) {
    const char = command[at] ?? "";
    if (char === '"') return { text, end: at };
    if (char !== "\\") text += char;
    else {
      const next = command[++at] ?? "";
      if (!escapable.has(next)) text += `\\${next}`;
      else if (next !== "\n") text += next;
    }
  }
  return null;
}
