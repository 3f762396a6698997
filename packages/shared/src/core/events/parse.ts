/**
 * Text of a ledger entry → a validated record, or the reason why it is none.
 *
 * P1. An unknown type, version or field is `unknown`: it holds its session and never voids, so that two releases agree.
 * P2. Anything else that does not fit is `malformed`: it is void and changes nothing.
 * P3. Data of every version ever released is lifted to the latest; the lift is pure.
 * P4. Whether a record is read does not depend on a process's stack: what nests deeper than a fixed number of levels is malformed.
 */
import type { z } from "zod";
import type { EventDefinition } from "./define.ts";
import { type LedgerRecord, envelope, isPlainEnvelope } from "./envelope.ts";
import { type EventType, catalogue } from "./index.ts";

export type Parsed =
  | { readonly kind: "record"; readonly record: LedgerRecord }
  | { readonly kind: "unknown"; readonly detail: string }
  | { readonly kind: "malformed"; readonly detail: string };

/** Longest text of one record, in UTF-16 units. A goal alone may be 256 KiB. */
export const recordTextMax = 1_048_576;

export function parseRecord(text: string | null): Parsed {
  if (text === null) return { kind: "malformed", detail: "no value" };
  if (text.length > recordTextMax) return { kind: "malformed", detail: `longer than ${recordTextMax} characters` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "malformed", detail: "not JSON" };
  }
  return readRecord(value);
}

/** Most levels of arrays and objects in a record, its envelope included. */
export const nestingMax = 200;

function nestsDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((member) => nestsDeeper(member, levels - 1));
  // No list of the members is made: every record is looked through.
  for (const name in value) if (nestsDeeper((value as { readonly [name: string]: unknown })[name], levels - 1)) return true;
  return false;
}

/** A later envelope is no broken one: the session waits for a release that reads it. */
function isLaterEnvelope(value: unknown): value is { readonly v: number } {
  if (value === null || typeof value !== "object") return false;
  const { v, type, sessionId } = value as { readonly [name: string]: unknown };
  return Number.isInteger(v) && (v as number) > 1 && typeof type === "string" && typeof sessionId === "string";
}

/** The same for a value that is JSON already. */
export function readRecord(value: unknown): Parsed {
  if (nestsDeeper(value, nestingMax)) return { kind: "malformed", detail: `nested deeper than ${nestingMax} levels` };
  if (isLaterEnvelope(value)) return { kind: "unknown", detail: `envelope version ${value.v}` };
  if (isPlainEnvelope(value)) return readData(value);
  const outer = envelope.safeParse(value);
  return outer.success ? readData(outer.data) : refusal(outer.error, "");
}
function readData(outer: z.infer<typeof envelope>): Parsed {
  const { type, typeVersion } = outer;
  const definition = (Object.hasOwn(catalogue, type) ? catalogue[type as EventType] : undefined) as EventDefinition<EventType, z.ZodType> | undefined;
  if (!definition) return { kind: "unknown", detail: `type ${type}` };
  const schema = definition.versions[typeVersion - 1];
  if (!schema) return { kind: "unknown", detail: `${type} version ${typeVersion}` };
  const inner = schema.safeParse(outer.data);
  if (!inner.success) return refusal(inner.error, `${type}.`);
  let data: unknown = inner.data;
  for (let version = typeVersion; version <= definition.lifts.length; version++) data = definition.lifts[version - 1]?.(data as never);
  return { kind: "record", record: { ...outer, data } as LedgerRecord };
}

function refusal(error: z.ZodError, where: string): Parsed {
  const issues = flatten(error.issues);
  const only = issues.every((issue) => issue.code === "unrecognized_keys");
  const detail = issues.slice(0, 3).map((issue) => `${where}${issue.path.join(".")}: ${issue.message}`).join("; ");
  return { kind: only && issues.length > 0 ? "unknown" : "malformed", detail };
}

/** Issues inside a union count as unknown fields only where its nearest branch has nothing else to say. */
function flatten(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    const branches = issue.errors.map(flatten);
    return branches.find((branch) => branch.length > 0 && branch.every((i) => i.code === "unrecognized_keys")) ?? [issue];
  });
}
