/**
 * What stands around a goal, taken off layer by layer: CloudEvents, Debezium's outbox in its several forms, Kafka Connect's schema and
 * payload, JSON inside a JSON string. Pure.
 *
 * V1. A goal is never taken for an envelope: what has a field `goal` is the goal.
 * V2. The mode of an event is told by what is there, because producers leave out headers that they should set.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import { type Refused, refused } from "./reasons.ts";

export interface Opened {
  readonly content: unknown;
  /** The row of an outbox table was in it: its aggregate names the session, and the record's own key only the row. */
  readonly row: { readonly aggregate: string | null } | null;
  /** What says that two records are the same event; null where nothing does. */
  readonly identity: string | null;
}
type Members = Readonly<Record<string, unknown>>;

/** Layers that are taken off at most: an event around a change around a payload around a text, and one to spare. */
const layersMax = 6;

export function openEnvelopes(value: unknown, headers: Readonly<Record<string, string>>): Opened | Refused {
  let opened: Opened = { content: value, row: null, identity: identityOf({ source: unquoted(headers["ce_source"]), id: unquoted(headers["ce_id"]) }) };
  for (let layer = 0; layer < layersMax; layer++) {
    const inner = openOne(opened);
    if (inner === null || "reason" in inner) return inner ?? opened;
    opened = inner;
  }
  return refused("schema_violation", `The value has more than ${layersMax} envelopes around each other.`);
}

/** One layer less; null where there is none left. */
function openOne(opened: Opened): Opened | Refused | null {
  const { content } = opened;
  if (typeof content === "string") return textOf(opened, content);
  if (!isMembers(content) || "goal" in content) return null;
  if (typeof content["specversion"] === "string") return eventOf(opened, content);
  if (typeof content["op"] === "string" && ("after" in content || "before" in content)) return changeOf(opened, content);
  if (!("payload" in content)) return null;
  const row = "aggregateid" in content || "aggregatetype" in content;
  const { aggregateid, id } = content;
  return {
    content: content["payload"], row: row ? { aggregate: nameOf(aggregateid) } : opened.row,
    identity: row ? (opened.identity ?? identityOf({ source: "outbox", id })) : opened.identity,
  };
}

function textOf(opened: Opened, text: string): Opened | Refused {
  try {
    return { ...opened, content: JSON.parse(text) as unknown };
  } catch (error) {
    return refused("not_json", `The text inside the record is no JSON: ${messageOf(error)}`);
  }
}

function eventOf(opened: Opened, { data, data_base64: encoded, source, id }: Members): Opened | Refused {
  const identity = identityOf({ source, id }) ?? opened.identity;
  if (typeof encoded === "string") return { ...opened, identity, content: Buffer.from(encoded, "base64").toString("utf8") };
  if (data === undefined) return refused("schema_violation", "The event carries no data.");
  return { ...opened, identity, content: data };
}

/** A row that was inserted, or was there when the connector began; it says nothing new where it was changed or deleted. */
function changeOf(opened: Opened, { op, after }: Members): Opened | Refused {
  if ((op === "c" || op === "r") && isMembers(after)) return { ...opened, content: after };
  return refused("not_an_insert", `The change has op ${JSON.stringify(op)}; only rows that were inserted (c) or read (r) carry a goal.`);
}

function identityOf({ source, id }: { readonly source: unknown; readonly id: unknown }): string | null {
  return typeof source === "string" && typeof id === "string" && id !== "" ? JSON.stringify([source, id]) : null;
}
/** Some frameworks write the values of headers as JSON. */
function unquoted(text: string | undefined): string | undefined {
  if (text === undefined || !/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
/** The name that a key holds: its text, or what a Connect converter made of a text; null = none. */
export function nameOfKey(key: string | null): string | null {
  if (key === null || !/^\s*["{]/.test(key)) return key === "null" ? null : key;
  try {
    const read: unknown = JSON.parse(key);
    const inner = isMembers(read) && "payload" in read ? read["payload"] : read;
    return inner === null ? null : (nameOf(inner) ?? key);
  } catch {
    return key;
  }
}
function nameOf(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
function isMembers(value: unknown): value is Members {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
