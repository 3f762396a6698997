/**
 * Any JSON value as a field of a schema.
 *
 * Q1. It accepts and refuses exactly what `z.json()` does, gives the same value and reads the same as a JSON Schema.
 * Q2. A value that plainly is JSON is passed without zod's own walk, which guards each reading of a recursive schema, and of
 *     every schema around it, with tables of its own. Anything else is left to `z.json()`.
 */
import { z } from "zod";
import type { Json } from "../json.ts";

/** Levels of arrays and objects that are walked here; what nests deeper, or in itself, is left to zod. */
const levelsMax = 200;

/** Only what JSON text can say: no undefined, no class, no symbol. A member called `__proto__` is left to zod, which leaves it out. */
function isPlainJson(value: unknown, levels = levelsMax): boolean {
  switch (typeof value) {
    case "string": case "boolean": return true;
    case "number": return Number.isFinite(value);
    case "object":
      if (value === null) return true;
      if (levels === 0) return false;
      return Array.isArray(value) ? isPlainList(value, levels - 1) : isPlainObject(value, levels - 1);
    default: return false;
  }
}
function isPlainList(list: readonly unknown[], levels: number): boolean {
  for (const member of list) if (!isPlainJson(member, levels)) return false;
  return true;
}
function isPlainObject(value: object, levels: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== "string" || key === "__proto__" || !isPlainJson((value as Readonly<Record<string, unknown>>)[key], levels)) return false;
  }
  return true;
}

export function jsonField(): z.ZodType<Json> {
  const whole = z.json();
  const field = z.unknown();
  const read: typeof field._zod.run = (payload, context) => (isPlainJson(payload.value) ? payload : whole._zod.run(payload, context));
  field._zod.parse = read;
  field._zod.run = read;
  const shown = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(field), z.record(z.string(), field)]);
  field._zod.processJSONSchema = (context, _json, params) => {
    z.core.processSchema(shown, context, params);
    const seen = context.seen.get(field);
    if (seen) seen.ref = shown;
  };
  return field as unknown as z.ZodType<Json>;
}
