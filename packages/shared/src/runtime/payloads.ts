/** Payloads above the record's limit go to the blob store, blob first, record second; read back whole. */
import type { Digest, SessionId } from "../core/brand.ts";
import type { Json } from "../core/json.ts";
import type { Engine } from "./engine.ts";

/** Largest payload inside a record, in UTF-16 units of its JSON. */
const inlineMax = 65_536;

export async function fit(engine: Pick<Engine, "blobs">, sessionId: SessionId, value: Json): Promise<Json> {
  const text = JSON.stringify(value);
  if (text.length <= inlineMax) return value;
  const content = new TextEncoder().encode(text);
  return { blob: await engine.blobs.put(sessionId, content), bytes: content.byteLength };
}

/** The value itself, wherever it is; null where its blob is missing. */
export async function whole(engine: Pick<Engine, "blobs">, sessionId: SessionId, value: Json): Promise<{ readonly value: Json } | null> {
  const digest = blobOf(value);
  if (!digest) return { value };
  const content = await engine.blobs.get(sessionId, digest);
  return content ? { value: JSON.parse(new TextDecoder().decode(content)) as Json } : null;
}

function blobOf(value: Json): Digest | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const members = value as { readonly [key: string]: Json };
  const exact = Object.keys(members).length === 2 && typeof members["blob"] === "string" && typeof members["bytes"] === "number";
  return exact ? (members["blob"] as Digest) : null;
}
