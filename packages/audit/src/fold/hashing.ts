/** Digests and derived ids, computed by the audit's own hand. */
import { createHash } from "node:crypto";
import { canonicalJson } from "@loopledger/shared/core/json";

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
export function digestOf(value: unknown): string {
  return `sha256:${sha256(canonicalJson(value))}`;
}
export function same(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
/** The id of a record that its cause gives: hash of session, cause and purpose. */
export function derivedId(sessionId: string, cause: string, what: string): string {
  return sha256([sessionId, cause, what].join("\n"));
}
/** The digest of what is wanted: the goal without the id under which it is wanted. */
export function goalDigest(goal: Readonly<Record<string, unknown>>): string {
  const { id: _, ...wanted } = goal;
  return digestOf(wanted);
}
