/**
 * What a check's digest covers: what is run or asked and where (words, shell, folder, address, function), its globs, and the content of
 * what it pins. Where any of it changes, the digest does, and the session waits for a person.
 *
 * It does not cover how the operator has it run: time limits, which can only keep a verdict back and never make one, and the names of
 * the environment variables that are handed on, whose values no digest could cover. So a session goes on under a longer limit, or with
 * a variable that its maker needs, without being asked about its check.
 */
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
  if (definition.kind !== "exec" && (definition.pin ?? []).length === 0 && protect.length === 0) return ofDefinition(definition);
  const parts = new Map<string, string>();
  if (definition.kind === "exec") {
    const words = wordsOf(definition);
    for (const [name, content] of await manifestParts(words, folder)) parts.set(name, content);
    for (const path of await namedFiles(words, folder)) parts.set(path, await contentOf(join(folder, path)));
  }
  for (const path of await filesOf([...(definition.pin ?? []), ...protect], folder)) parts.set(path, await contentOf(join(folder, path)));
  const names = [...parts.keys()].sort();
  const hash = createHash("sha256").update(judgingText(definition));
  for (const name of names) hash.update(`\n${JSON.stringify([name, parts.get(name)])}`);
  const listed = names.map((name) => name.slice(0, 1024));
  const more = listed.length - namesMax;
  return {
    digest: `sha256:${hash.digest("hex")}` as Digest,
    pinned: more > 0 ? [...listed.slice(0, namesMax - 1), `and ${more + 1} more`] : listed,
  };
}

/** A definition stays what it was when the config was read; its text is made once, although each review asks for it twice. */
const judgingTexts = new WeakMap<CheckDefinition, string>();
function judgingText(definition: CheckDefinition): string {
  const text = judgingTexts.get(definition) ?? canonicalDefinition(judging(definition));
  judgingTexts.set(definition, text);
  return text;
}

/** Of a check that covers no file: what each review asks for twice never changes while the process runs. */
const pinnedByDefinition = new WeakMap<CheckDefinition, Pinned>();
function ofDefinition(definition: CheckDefinition): Pinned {
  const pinned = pinnedByDefinition.get(definition) ?? { digest: sha256(judgingText(definition)), pinned: [] };
  pinnedByDefinition.set(definition, pinned);
  return pinned;
}

/** The definition without how the operator has it run. */
function judging(definition: CheckDefinition): CheckDefinition {
  const { timeoutSeconds: _limit, idleSeconds: _silence, env: _names, ...rest } = definition as Extract<CheckDefinition, { kind: "exec" }>;
  const judge = rest as CheckDefinition;
  if (judge.kind !== "http") return judge;
  const { timeoutSeconds: _answer, ...http } = judge.http;
  return { ...judge, http };
}

/** The words of a command; of a shell's line those that are plainly words. Operands of programs that only look are left out. */
function wordsOf({ exec, shell }: Extract<CheckDefinition, { kind: "exec" }>): readonly string[] {
  const words = typeof exec === "string" ? [exec] : exec;
  if (!shell) return definingWords(words);
  // Where the output goes to is written by the check, and defines nothing.
  return words.flatMap((line) => line.replaceAll(/\d*>>?(&\d|\s*[^\s;&|()<>]+)/g, " ").split(/[;&|()\n]+/)).flatMap((command) => definingWords(command.split(/[\s<>"'`]+/).filter((word) => word !== "")));
}

/** Programs that only look at their operands: these are the work that is judged, and no part of the judge. */
const lookers = new Set([
  "test", "[", "[[", "grep", "egrep", "fgrep", "rg", "cmp", "diff", "cat", "head", "tail", "ls", "stat", "wc", "find", "file", "sha256sum", "md5sum", "cksum", "jq", "tee",
]);
const keywords = new Set(["!", "if", "then", "else", "elif", "while", "until", "do", "time", "exec", "command"]);

function definingWords(words: readonly string[]): readonly string[] {
  const program = words.findIndex((word) => !keywords.has(word));
  return lookers.has(words[program]?.split("/").at(-1) ?? "") ? words.slice(0, program + 1) : words;
}

async function contentOf(path: string): Promise<string> {
  return sha256(await readFile(path).catch(() => ""));
}
