/** YAML or JSON as one value: doubled keys, several documents and anything that is no plain data are refused. */
import { parseAllDocuments, visit } from "yaml";
import { UsageError } from "../refusals.ts";

export interface StrictRead {
  readonly value: unknown;
  /** What is wrong with the text, each with its line; empty = right. */
  readonly faults: readonly string[];
}

/** Most nodes that aliases may stand for: a small text must not become a large value. */
const aliasesMax = 100;

export function parseStrictly(text: string): StrictRead {
  const json = parseJson(text);
  const documents = parseAllDocuments(text, { uniqueKeys: true, prettyErrors: true, strict: true, logLevel: "silent" });
  if (!Array.isArray(documents) || documents.length === 0) return json ?? { value: null, faults: ["it is empty"] };
  const [document] = documents;
  if (!document) return { value: null, faults: ["it is empty"] };
  const errors = documents.flatMap((one) => one.errors).filter((error) => json === null || error.code === "DUPLICATE_KEY");
  const faults = errors.map((error) => firstLine(error.message));
  if (json === null && documents.length > 1) faults.push("it holds several documents (---); a file holds one");
  if (faults.length > 0) return { value: null, faults: json === null ? [...noJson(text), ...faults] : faults };
  if (json !== null) return json;
  let aliases = 0;
  visit(document, {
    Alias: () => {
      aliases++;
    },
  });
  if (aliases > aliasesMax) return { value: null, faults: [`it holds ${aliases} aliases; at most ${aliasesMax} are followed`] };
  try {
    return { value: document.toJS({ maxAliasCount: aliasesMax }), faults: [] };
  } catch (error) {
    return { value: null, faults: [error instanceof Error ? firstLine(error.message) : String(error)] };
  }
}

/** JSON is read as JSON: its strings and white space are not YAML's. */
function parseJson(text: string): StrictRead | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text), faults: [] };
  } catch {
    return null;
  }
}

/** What was meant as JSON is told by JSON's own rules; what YAML says of it comes after. */
function noJson(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [`it is no JSON: ${error instanceof Error ? firstLine(error.message) : String(error)}`];
  }
}

function firstLine(text: string): string {
  return text.split("\n")[0]?.replace(/:$/, "") ?? text;
}

/** The text of a file; refuses bytes that are no UTF-8. */
export function decodeText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${source} cannot be read as text.`, { code: "invalid_text", faults: ["it is not UTF-8 text"], next: "Save it as UTF-8." });
  }
}
