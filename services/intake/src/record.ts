/**
 * From the texts of a record to a goal and its session, or to what is wrong with it. Pure: the same record gives the same answer
 * whoever reads it, and however often.
 *
 * P1. A session is named by the record's key, else by the goal, else by the event, else by the record's position: a record that is
 *     handed on again is the same session.
 * P2. Two different names in one record are refused; nobody guesses which one was meant.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import type { Sha256, SessionId } from "@loopledger/shared/core/brand";
import { sessionIdPattern, sessionIdRule } from "@loopledger/shared/core/session-id";
import { type Goal, goal as goalSchema, goalBytesMax } from "@loopledger/shared/core/events/goal";
import { faultsOfSchema, faultsOfText } from "@loopledger/shared/core/schema-faults";
import { faultsOfPlan } from "@loopledger/shared/core/session/plan";
import { nameOfKey, type Opened, openEnvelopes } from "./envelopes.ts";
import { type Refused, refused } from "./reasons.ts";

/** A value as far as it is text. */
export type ValueText =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  /** What it would be with a replacement for each half character. */
  | { readonly kind: "not_text"; readonly mended: string }
  | { readonly kind: "unknown_schema"; readonly detail: string }
  /** The registry knows the schema, and it is none of JSON. */
  | { readonly kind: "other_schema" };

export interface RecordTexts {
  /** Made of topic, partition and offset. */
  readonly position: string;
  readonly key: string | null;
  readonly value: ValueText;
  /** Of the value as it lies on the topic. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
}
export interface Taken {
  readonly goal: Goal;
  readonly sessionId: SessionId;
}
export interface Knowledge {
  readonly sha256: Sha256;
  /** Handlers that the goal names and nobody has. */
  readonly missingHandlers: (goal: Goal) => readonly string[];
}

export function readRecord(record: RecordTexts, known: Knowledge): Taken | Refused {
  try {
    return read(record, known);
  } catch (error) {
    if (error instanceof RangeError) return refused("schema_violation", "The value is nested too deeply.");
    throw error;
  }
}

function read(record: RecordTexts, known: Knowledge): Taken | Refused {
  const value = jsonOf(record);
  if ("reason" in value) return value;
  const opened = openEnvelopes(value.read, record.headers);
  if ("reason" in opened) return opened;
  if (opened.content === null || opened.content === undefined) return refused("null_value", "The value is JSON's null.");
  const goal = goalOf(opened.content, known);
  if ("reason" in goal) return goal;
  const sessionId = nameOf(record, { opened, goal: goal.goal, known });
  return typeof sessionId === "string" ? { goal: goal.goal, sessionId: sessionId as SessionId } : sessionId;
}

function jsonOf({ value, bytes }: RecordTexts): { readonly read: unknown } | Refused {
  if (bytes > goalBytesMax) return refused("too_large", `The value has ${bytes} bytes; a goal has at most ${goalBytesMax} (256 KiB).`);
  switch (value.kind) {
    case "none": return refused("null_value");
    case "unknown_schema": return refused("unknown_schema_id", value.detail);
    case "other_schema": return refused("not_json", "The schema that the value names is none of JSON.");
    case "not_text": return "reason" in parsed(value.mended) ? refused("not_json", "The value is no text in UTF-8.") : refused("half_characters", "The text is no valid UTF-8.");
    case "text": return parsed(value.text);
  }
}

function parsed(text: string): { readonly read: unknown } | Refused {
  try {
    return { read: JSON.parse(text.replace(/^\uFEFF/, "")) };
  } catch (error) {
    return refused("not_json", text === "" ? "The value is empty." : `The value is no JSON: ${messageOf(error)}`);
  }
}

function goalOf(content: unknown, { missingHandlers }: Knowledge): { readonly goal: Goal } | Refused {
  const halves = faultsOfText(content);
  if (halves.length > 0) return refused("half_characters", listed(halves));
  const read = goalSchema.safeParse(content);
  const faults = read.success ? faultsOfPlan(read.data) : faultsOfSchema(goalSchema, read.error, content);
  if (!read.success || faults.length > 0) return refused("schema_violation", listed(faults));
  const missing = missingHandlers(read.data);
  return missing.length > 0 ? refused("unknown_handler", listed(missing)) : { goal: read.data };
}
function listed(faults: readonly string[]): string {
  return faults.slice(0, 10).join("; ");
}

interface Naming { readonly opened: Opened; readonly goal: Goal; readonly known: Knowledge }

function nameOf({ key, position }: RecordTexts, { opened: { row, identity }, goal, known }: Naming): string | Refused {
  if (key === "") return refused("missing_key");
  const named = row === null ? nameOfKey(key) : row.aggregate;
  if (named === null) return goal.id ?? (identity === null ? position.slice(-idMax) : `event-${known.sha256(identity).slice(0, 24)}`);
  if (!sessionIdPattern.test(named)) {
    return refused("foreign_key", `The key ${JSON.stringify(named.slice(0, 200))} is no session id: ${sessionIdRule}`);
  }
  if (goal.id !== undefined && goal.id !== named) return refused("foreign_key", `The key is ${named}, and the goal's id is ${goal.id}.`);
  return named;
}
const idMax = 128;
