/** What a check's digest covers: its definition, and the content of what it pins. Where any of it changes, the digest does. */
import { createHash } from "node:crypto";
import type { Digest } from "@loopledger/shared/core/brand";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckDefinition } from "../config/definitions.ts";
import { canonicalDefinition, sha256 } from "../principal.ts";
import { manifestParts } from "./manifests.ts";
import { filesOf, namedFiles } from "./files.ts";

export interface PinPlace {
  /** The folder that the check runs in. */
  readonly folder: string;
  /** Globs that the operator protects for every check. */
  readonly protect: readonly string[];
}
export interface Pinned {
  readonly digest: Digest;
  /** As a person reads them: `test/login.test.js`, `package.json scripts.test`. */
  readonly pinned: readonly string[];
}
/** Most names that a record lists; more are counted in the last one. */
const namesMax = 1000;

export async function checkDigest(definition: CheckDefinition, { folder, protect }: PinPlace): Promise<Pinned> {
  const parts = new Map<string, string>();
  if (definition.kind === "exec") {
    const words = wordsOf(definition);
    for (const [name, content] of await manifestParts(words, folder)) parts.set(name, content);
    for (const path of await namedFiles(words, folder)) parts.set(path, await contentOf(join(folder, path)));
  }
  for (const path of await filesOf([...(definition.pin ?? []), ...protect], folder)) parts.set(path, await contentOf(join(folder, path)));
  const names = [...parts.keys()].sort();
  const hash = createHash("sha256").update(canonicalDefinition(definition));
  for (const name of names) hash.update(`\n${JSON.stringify([name, parts.get(name)])}`);
  const listed = names.map((name) => name.slice(0, 1024));
  const more = listed.length - namesMax;
  return {
    digest: `sha256:${hash.digest("hex")}` as Digest,
    pinned: more > 0 ? [...listed.slice(0, namesMax - 1), `and ${more + 1} more`] : listed,
  };
}

/** The words of a command; of a shell's line those that are plainly words. */
function wordsOf({ exec, shell }: Extract<CheckDefinition, { kind: "exec" }>): readonly string[] {
  const words = typeof exec === "string" ? [exec] : exec;
  return shell ? words.flatMap((line) => line.split(/[\s;&|()<>"'`]+/)).filter((word) => word !== "") : words;
}

async function contentOf(path: string): Promise<string> {
  return sha256(await readFile(path).catch(() => ""));
}
