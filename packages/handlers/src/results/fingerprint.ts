/** What the breaker compares: the same fault gives the same fingerprint, whatever its figures, times and temporary paths. */
import { createHash } from "node:crypto";
import { stripVTControlCharacters } from "node:util";

export function fingerprintOf(code: string, output: string): string {
  return `${code}:${createHash("sha256").update(normalised(output)).digest("hex").slice(0, 32)}`.slice(0, 256);
}

/** The last lines without what changes from run to run. */
export function normalised(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/[^\s"'`()=:,]*\/(?:tmp|temp|var\/folders|private\/var|run\/user)\/[^\s"'`()=:,]*/gi, "<path>")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<n>")
    // The parts behind a point may look like an id, so figures with an exponent come first; an id may be of digits only, so both become the same word.
    .replace(/\b\d+[.,]\d+e[+-]?\d+\b/gi, "<n>")
    .replace(/\b(?:0x)?(?=[0-9a-f]*[0-9])[0-9a-f]{6,}\b/gi, "<n>")
    .replace(/(?:\d+|<n>)(?:[.,:](?:\d+|<n>))*(?:e[+-]?\d+\b)?/g, "<n>")
    .replace(/<n>\s*(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?|h|hours?)\b(?:\s*<n>\s*(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?|h|hours?)\b)*/gi, "<n>")
    .split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "")
    .slice(-40).join("\n");
}
