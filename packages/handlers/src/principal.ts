import { createHash } from "node:crypto";
import type { Digest } from "@loopledger/shared/core/brand";
import { canonicalJson } from "@loopledger/shared/core/json";
import type { CheckDefinition, MakerDefinition, ToolDefinition } from "./config/definitions.ts";

export type Definition = MakerDefinition | CheckDefinition | ToolDefinition;

export function sha256(text: string | Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(text).digest("hex")}` as Digest;
}

/** Canonical text of a definition; a function stands for its source text. */
export function canonicalDefinition(definition: Definition): string {
  return canonicalJson(withoutFunctions(definition));
}

/** `name@sha256:…`: who a record names as its maker or checker. */
export function principalOf(name: string, definition: Definition): string {
  return `${name}@${sha256(canonicalDefinition(definition))}`;
}

function withoutFunctions(value: unknown): unknown {
  if (typeof value === "function") return { function: sha256(value.toString()) };
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(withoutFunctions);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutFunctions(member)]));
}
