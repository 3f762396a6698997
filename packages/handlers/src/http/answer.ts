/** What an HTTP answer says: its body as JSON, and whether the target refuses an old owner. */
import { type Json, cutText, repairText } from "@loopledger/shared/core/json";
import { readJson } from "../results/json-text.ts";
import type { Answered } from "./request.ts";

/** How much of an answer that is too large is kept as text, in UTF-16 units. */
const headMax = 1_048_576;

/** JSON where it is JSON, else text, null where it is empty; a marker with size and digest where it is too large. */
export function bodyOf(answered: Answered): Json {
  const text = answered.body.toString("utf8");
  if (answered.bytes > answered.body.length) {
    return { truncated: true, bytes: answered.bytes, digest: answered.digest, head: repairText(cutText(text, headMax)) };
  }
  if (text.trim() === "") return null;
  const read = readJson(text);
  return read.ok ? read.value : repairText(text);
}

/** The target knows of a later owner of the session. */
export function isStaleOwner(answered: Answered, body: Json): boolean {
  if (answered.status !== 409 && answered.status !== 412) return false;
  const { code, detail, error } = (typeof body === "object" && body !== null && !Array.isArray(body) ? body : {}) as Record<string, Json | undefined>;
  if (code === "stale_epoch" || error === "stale_epoch") return true;
  const said = typeof body === "string" ? body : typeof detail === "string" ? detail : "";
  return answered.status === 409 && said.includes("run ownership moved");
}

/** The end of an answer as a person reads it. */
export function shown(answered: Answered): string {
  return repairText(cutText(answered.body.toString("utf8"), 2000));
}
