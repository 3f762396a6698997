/** Recorded histories: one folder a release, kept for ever. A line is one entry of the log, its text as it stood there. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FoldEntry } from "@loopledger/shared/core/session/evolve";
import type { StatusView } from "@loopledger/shared/core/session/status";
import { entryOfText } from "@loopledger/shared/testing";

export interface Line { readonly partition: number; readonly offset: number; readonly time: number; readonly key: string; readonly value: string }
/** What the release that wrote the history made of it. */
export interface Expected { readonly sessionId: string; readonly digest: string; readonly verdicts: readonly string[]; readonly status: StatusView }
export interface History { readonly name: string; readonly release: string; readonly entries: readonly FoldEntry[]; readonly expected: Expected }

export const historiesFolder = join(import.meta.dirname, "histories");

function entryOfLine(text: string): FoldEntry {
  const { value, partition, offset, time, key } = JSON.parse(text) as Line;
  return entryOfText(value, { partition, offset: offset as never, time: time as never, key });
}

export function readHistories(folder: string = historiesFolder): History[] {
  return readdirSync(folder).flatMap((release) => readdirSync(join(folder, release)).filter((file) => file.endsWith(".jsonl")).map((file) => {
    const name = file.slice(0, -".jsonl".length);
    const entries = readFileSync(join(folder, release, file), "utf8").trimEnd().split("\n").map(entryOfLine);
    return { name, release, entries, expected: JSON.parse(readFileSync(join(folder, release, `${name}.expected.json`), "utf8")) as Expected };
  }));
}
