/** Reads JSON that a program outside wrote: bounded, whole characters, each key once. */
import { type Json, isWholeText, repairJson } from "@loopledger/shared/core/json";

/** Deepest nesting that is read; more cannot be walked by every reader of the ledger. */
export const jsonDepthMax = 200;

export type JsonRead = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: string };

export function readJson(text: string, depthMax = jsonDepthMax): JsonRead {
  if (text.length > depthMax && tooDeep(text, depthMax)) return { ok: false, why: `nested deeper than ${depthMax} levels` };
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    return { ok: false, why: `not JSON (${(error as Error).message.slice(0, 200)})` };
  }
  // What is spelled without an escape stands in the value as it stands in the text: most texts say by themselves that nothing is wrong with them.
  const isPlain = !text.includes("\\u") && isWholeText(text);
  if ((!isPlain || text.includes("__proto__")) && hasPrototypeKey(value)) return { ok: false, why: "has a key named __proto__" };
  return { ok: true, value: isPlain ? value : repairJson(value) };
}

/** One pass over the text, so that the depth is known before anything walks it. */
function tooDeep(text: string, depthMax: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (quoted) {
      if (c === 92) i += 1;
      else if (c === 34) quoted = false;
    } else if (c === 34) quoted = true;
    else if (c === 91 || c === 123) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (c === 93 || c === 125) depth -= 1;
  }
  return false;
}

function hasPrototypeKey(value: Json): boolean {
  if (value === null || typeof value !== "object") return false;
  if (Array.isArray(value)) return value.some(hasPrototypeKey);
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeKey);
}
