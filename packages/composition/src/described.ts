/** Errors of every floor in one shape: a sentence, what to do next, and the code to leave with. */
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { Refusal } from "./refusals.ts";

export interface Described {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly faults: readonly string[];
  readonly exitCode: ExitCode;
}

/** What the operating system says where a disk, or this user's part of it, is full. */
const noRoom: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** What the operating system says of a file or folder that was named and cannot be used: rarely a mistake of ours, always one to mend outside. */
const unusable: Readonly<Record<string, { readonly what: string; readonly next: string }>> = {
  EACCES: { what: "this user may not use it", next: "Give this user the right to it (`ls -ld` shows who has it), or name another place." },
  EPERM: { what: "the system does not let this user do that", next: "Give this user the right to it (`ls -ld` shows who has it), or name another place." },
  EROFS: { what: "it lies on a file system that can only be read", next: "Name a place that can be written." },
  ENOENT: { what: "it is not there", next: "Mend the name, or make it." },
  ENOTDIR: { what: "a part of its path is no folder", next: "Mend the name." },
  EISDIR: { what: "it is a folder, and a file is wanted", next: "Name a file." },
  EEXIST: { what: "something else is there already", next: "Name another place, or move away what is there." },
  ENOTEMPTY: { what: "it is not empty", next: "Name another place, or move away what is there." },
  ELOOP: { what: "its links lead in a circle", next: "Mend the links, or name another place." },
  ENAMETOOLONG: { what: "its name is too long", next: "Name it by a shorter path." },
  ENXIO: { what: "nothing can be read or written there", next: "Name a plain file." },
  ENODEV: { what: "nothing can be read or written there", next: "Name a plain file." },
};

/** Only what names a place: without one it says nothing that a person could mend. */
function describeUnusable(error: unknown): Described | null {
  const { code, path } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : unusable[code];
  if (known === undefined || path === undefined) return null;
  return { code: "file_unusable", message: `${path} cannot be used: ${known.what} (${code}).`, next: known.next, faults: [], exitCode: exitCodes.usage };
}

/** Shapes errors of every floor alike: what carries a code and says what comes next is shown as it is. */
export function describeError(error: unknown): Described {
  if (error instanceof Refusal) return error;
  const { name, message, code, next, faults } = fieldsOf(error);
  if (name === "InvalidSettings") {
    return { code: "invalid_settings", message: "The environment holds settings that cannot be right.", faults, next: "Mend them; nothing was started.", exitCode: exitCodes.usage };
  }
  if (code !== null && noRoom.has(code)) {
    return {
      code: "disk_full", message: `There is no room on a disk that is needed: ${message}.`, faults: [], exitCode: exitCodes.unreachable,
      next: "Free space where the data folder lies, and where the workspace does. What is on the ledger is safe: the same command goes on with it.",
    };
  }
  const place = describeUnusable(error);
  if (place !== null) return place;
  if (code !== null && next !== null) return { code, message: faults.length > 1 ? headline(code) : message, next, faults: faults.length > 1 ? faults : [], exitCode: exitCodeOfError(code) };
  return {
    code: "internal_error", message: `Something failed that should not have: ${message}`, faults: [], exitCode: exitCodes.failed,
    next: "The session is safe on its ledger: the same command goes on with it. LOOPLEDGER_LOG_LEVEL=debug shows where it happened.",
  };
}

function headline(code: string): string {
  return code === "invalid_config" ? "The config has mistakes." : `${code.replaceAll("_", " ")}.`;
}

/** Codes of the catalogue by their first word: what cannot be reached is 7, what was asked wrongly is 2. */
function exitCodeOfError(code: string): ExitCode {
  if (/^(ledger|views|blobs|gateway|redis|registry|schema)_/.test(code)) return exitCodes.unreachable;
  return /^(invalid|unknown|bad|address)_/.test(code) ? exitCodes.usage : exitCodes.failed;
}

function fieldsOf(error: unknown) {
  const fields = (error instanceof Error ? error : { message: String(error) }) as { readonly [key: string]: unknown };
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const list = Array.isArray(fields["faults"]) ? fields["faults"].map(String) : [];
  return { name: text(fields["name"]), message: text(fields["message"]) ?? "", code: text(fields["code"]), next: text(fields["next"]), faults: list };
}

/** The text of an error on stderr; `hint` makes the commands in it typable. */
export function errorText(described: Described, json: boolean, hint: (text: string) => string = (text) => text): string {
  const { code, message, next, faults, exitCode } = described;
  if (json) return `${JSON.stringify({ error: { code, message, next, ...(faults.length > 0 && { faults }), exitCode } }, null, 2)}\n`;
  return `loopledger: ${hint(message)}\n${faults.map((fault) => `  - ${fault}\n`).join("")}  ${hint(next)}\n`;
}
