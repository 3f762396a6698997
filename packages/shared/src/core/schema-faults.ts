/**
 * What is wrong with a value that people wrote, as sentences with the place and, for an unknown name, the nearest known one.
 * It says what a schema refuses; it never refuses anything by itself.
 */
import { z } from "zod";
import { isWholeText } from "./json.ts";
import { nearestName } from "./nearest.ts";
import { sessionIdPattern, sessionIdRule } from "./session-id.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export function faultsOfSchema(schema: z.ZodType, error: z.ZodError, value: unknown): string[] {
  return [...new Set(error.issues.flatMap((issue) => faultsOfIssue(schema, issue, value)))];
}

function faultsOfIssue(schema: z.ZodType, issue: Issue, value: unknown): string[] {
  const at = placeOf(issue.path);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(placeOf([...issue.path, key]), key, keysAt(schema, issue.path)));
  if (issue.code === "invalid_union") return faultsOfUnion(schema, issue, value);
  const found = valueAt(value, issue.path);
  if (issue.code === "invalid_type" && found === undefined) return [`${at}: is missing (${issue.message.replace(/^Invalid input: /, "").replace(/, received.*/, "")})`];
  if (issue.code === "invalid_format" && issue.pattern === idPattern) return [`${at}: must be ${sessionIdRule} (it is a name in files and addresses)`];
  return [`${at}: ${issue.message.replace(/^Invalid input: /, "")}`];
}
const idPattern = String(sessionIdPattern);

function unknownField(place: string, key: string, known: readonly string[]): string {
  const near = nearestName(key, known);
  return `${place}: unknown field${near === null ? `; known are ${known.join(", ")}` : `; did you mean ${near}?`}`;
}

/** Of several possible forms the one that was most likely meant: the one with the fewest mistakes. */
function faultsOfUnion(schema: z.ZodType, issue: Issue & { readonly code: "invalid_union" }, value: unknown): string[] {
  const at = placeOf(issue.path);
  const options = [...issue.errors].sort((a, b) => a.length - b.length);
  const known = keysAt(schema, issue.path);
  const found = valueAt(value, issue.path);
  if (found === undefined) return [`${at}: is missing`];
  if (found !== null && typeof found === "object" && !Array.isArray(found) && known.length > 0) {
    const unknown = Object.keys(found).filter((key) => !known.includes(key));
    if (unknown.length > 0) return unknown.map((key) => unknownField(placeOf([...issue.path, key]), key, known));
    const best = options.find((one) => one.every((part) => part.code !== "unrecognized_keys")) ?? options[0] ?? [];
    return best.map((part) => `${placeOf([...issue.path, ...part.path])}: ${part.message.replace(/^Invalid input: /, "")}`);
  }
  const expected = [...new Set(options.flatMap((one) => one.map((part) => part.message.replace(/^Invalid input: /, ""))))];
  return [`${at}: ${expected.join(", or ")}`];
}

function placeOf(path: Path): string {
  if (path.length === 0) return "the whole";
  return path.reduce<string>((text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`), "");
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, part) => (at !== null && typeof at === "object" ? (at as Record<PropertyKey, unknown>)[part] : undefined), value);
}

/** The field names that a schema knows at a path; of a union those of all its forms. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  const reached = path.reduce<readonly z.ZodType[]>((at, part) => at.flatMap((one) => step(one, part)), [schema]);
  return [...new Set(reached.flatMap(forms).flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : [])))];
}
function step(schema: z.ZodType, part: PropertyKey): z.ZodType[] {
  return forms(schema).flatMap((one): z.ZodType[] => {
    if (one instanceof z.ZodObject) return Object.hasOwn(one.shape, part) ? [one.shape[String(part)] as z.ZodType] : [];
    if (one instanceof z.ZodArray) return [one.element as z.ZodType];
    return one instanceof z.ZodRecord ? [one.valueType as z.ZodType] : [];
  });
}
function forms(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return forms(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]).flatMap(forms) : [schema];
}

/** Places whose text holds half a character or a NUL. */
export function faultsOfText(value: unknown, place = ""): string[] {
  if (typeof value === "string") return isWholeText(value) ? [] : [`${place}: holds half a character or NUL`];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(isWholeText(key) ? [] : [`${place || "the whole"}: a key holds half a character or NUL`]),
    ...faultsOfText(member, place === "" ? key : `${place}.${key}`),
  ]);
}
