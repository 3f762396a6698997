/**
 * JSON as the ledger knows it: types, RFC 8785 canonical form, digests, and text that any strict parser can read.
 *
 * J1. Two values with equal canonical text have equal digests, whatever order their keys were written in.
 * J2. `sameJson` says of two values what comparing their canonical texts says, without making them.
 * J3. No text that leaves here holds half a surrogate pair or a NUL.
 */
import type { Digest, Sha256 } from "./brand.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** RFC 8785: keys sorted by UTF-16 code units, numbers and strings as ECMAScript writes them; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string": return quoted(value);
    case "number": return Number.isFinite(value) ? String(value) : "null";
    case "boolean": return value ? "true" : "false";
    case "object": break;
    default: return JSON.stringify(value) ?? "null";
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = value as Members;
  let text = "";
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member !== undefined) text += `${text === "" ? "" : ","}${quoted(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** Printable ASCII without quotation mark and backslash: what stands in JSON as it is. */
const plain = /^[ !#-[\]-~]*$/;
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

type Members = { readonly [key: string]: unknown };

/** Whether two values have the same canonical text. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((member, at) => sameJson(member, other[at]));
  }
  const members = one as Members;
  const others = other as Members;
  let count = 0;
  for (const key of Object.keys(members)) {
    if (members[key] === undefined) continue;
    count++;
    if (!Object.hasOwn(others, key) || !sameJson(members[key], others[key])) return false;
  }
  return count === Object.keys(others).filter((key) => others[key] !== undefined).length;
}

export function digestOf(value: unknown, sha256: Sha256): Digest {
  return `sha256:${sha256(canonicalJson(value))}` as Digest;
}

const NUL = String.fromCharCode(0);
const REPLACEMENT = "\uFFFD";

/** True where every character is whole and none is NUL. */
export function isWholeText(text: string): boolean {
  return text.isWellFormed() && !text.includes(NUL);
}

/** Lone surrogates and NUL become U+FFFD. */
export function repairText(text: string): string {
  return isWholeText(text) ? text : text.toWellFormed().replaceAll(NUL, REPLACEMENT);
}

/** The same for every string inside a JSON value, keys included. */
export function repairJson(value: Json): Json {
  if (typeof value === "string") return repairText(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(repairJson);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [repairText(key), repairJson(member)]));
}

/** At most `max` UTF-16 units, cut between whole characters. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** At most `max` UTF-16 units, the mark of what was cut among them. */
export function cutWithMark(text: string, max: number, mark = "…"): string {
  return text.length <= max ? text : `${cutText(text, max - mark.length)}${mark}`;
}

/** The last `max` UTF-16 units, cut between whole characters. */
export function tailText(text: string, max: number): string {
  if (text.length <= max) return text;
  const first = text.charCodeAt(text.length - max);
  return text.slice(text.length - (first >= 0xdc00 && first <= 0xdfff ? max - 1 : max));
}
