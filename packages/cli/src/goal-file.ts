/** Goals as people write them: YAML or JSON, read strictly. Every mistake is named at once, with the place and the nearest known name. */
import { readFile, stat } from "node:fs/promises";
import { type Goal, goal as goalSchema, goalBytesMax } from "@loopledger/shared/core/events/goal";
import { faultsOfSchema, faultsOfText } from "@loopledger/shared/core/schema-faults";
import { faultsOfPlan } from "@loopledger/shared/core/session/plan";
import { decodeText, parseStrictly } from "@loopledger/composition/project/strict-text";
import { UsageError } from "./errors.ts";

/** The goal in a text. Throws `UsageError` (code `invalid_goal`) with every mistake; `source` names the text in its message. */
export function readGoal(text: string, source = "the goal"): Goal {
  const bytes = Buffer.byteLength(text);
  if (bytes > goalBytesMax) throw tooLarge(source, bytes);
  try {
    return readGoalValue(text, source);
  } catch (error) {
    if (error instanceof RangeError) throw invalidGoal(source, ["it is nested too deeply"]);
    throw error;
  }
}

function readGoalValue(text: string, source: string): Goal {
  const read = parseStrictly(text);
  if (read.faults.length > 0) throw invalidGoal(source, read.faults);
  const { value } = read;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalidGoal(source, [`it is ${kindOf(value)}; a goal is a mapping with goal, maker and check`]);
  }
  const parsed = goalSchema.safeParse(value);
  const faults = [...faultsOfText(value), ...(parsed.success ? faultsOfPlan(parsed.data) : faultsOfSchema(goalSchema, parsed.error, value))];
  if (!parsed.success || faults.length > 0) throw invalidGoal(source, faults);
  return parsed.data;
}

/** A goal's text as the bytes of its JSON, for a topic; `-` is standard input. Throws as `readGoalFile` does. */
export async function readGoalBytes(path: string): Promise<Uint8Array> {
  return Buffer.from(JSON.stringify(await readGoalFile(path)));
}

/** The goal in a file; `-` is standard input. */
export async function readGoalFile(path: string): Promise<Goal> {
  return readGoal(decodeText(path === "-" ? await readStdin() : await readBounded(path), sourceOf(path)), sourceOf(path));
}
function sourceOf(path: string): string {
  return path === "-" ? "standard input" : path;
}

async function readBounded(path: string): Promise<Uint8Array> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new UsageError(`There is no file ${path}.`, { code: "no_such_file", next: "Name a goal file, or `-` for standard input." });
  if (!found.isFile()) throw new UsageError(`${path} is no file.`, { code: "no_such_file", next: "Name a goal file, or `-` for standard input." });
  if (found.size > goalBytesMax) throw tooLarge(path, found.size);
  return readFile(path);
}

/** Reads no more than a goal may have. */
async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > goalBytesMax) throw tooLarge("standard input", bytes);
  }
  return Buffer.concat(chunks);
}

function invalidGoal(source: string, faults: readonly string[]): UsageError {
  return new UsageError(`${source} is no goal that can be taken.`, {
    code: "invalid_goal", faults, next: "Mend what is named; `loopledger validate FILE` checks it again.",
  });
}
function tooLarge(source: string, bytes: number): UsageError {
  return new UsageError(`${source} has ${bytes}${bytes > goalBytesMax ? "" : "+"} bytes; a goal has at most ${goalBytesMax} (256 KiB).`, {
    code: "goal_too_large", next: "Put large material into files that the maker reads, and name them in inputs.",
  });
}
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? "plain text" : `a ${typeof value}`;
}
