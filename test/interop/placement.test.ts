/** Where other clients put a key: the same partition as this system, for ids of sessions and for any other text. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { partitionOf } from "@loopledger/shared/core/placement";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { kafkaBrokers, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { java, type Program, python, runProgram } from "./languages.ts";

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

const partitionCounts = [1, 7, 12];
/** Ids of every length up to the longest, and texts whose bytes have their highest bit set. */
const keys = [
  ...Array.from({ length: 128 }, (_, length) => "fix-login.web:2026_".repeat(8).slice(0, length + 1)),
  ...Array.from({ length: 100 }, (_, number) => `session-${number * 7919}`),
  "später", "naïve–café", "ключ", "鍵", "😀", "\u{10FFFF}", "ÿÿÿÿ", "a😀b", "_ledger/0",
];
const program = (name: string): string => join(import.meta.dirname, "programs", name);
const prefix = uniquePrefix("placed");
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-placed-"));
  writeFileSync(join(folder, "keys"), keys.map((key) => `${key}\n`).join(""));
  const admin = await openKafkaAdmin({ brokers: (await kafkaBrokers()).split(",") });
  await admin.create(partitionCounts.map((partitions) => ({ name: `${prefix}.${partitions}`, partitions, replication: 1, config: {} })));
  await admin.close();
});
afterAll(async () => {
  await removeTopics(prefix);
  rmSync(folder, { recursive: true, force: true });
});

async function placed(language: Program, file: string, partitions: number): Promise<number[]> {
  const { code, out, err } = await runProgram(language, [program(file), `${prefix}.${partitions}`, "keys"], { cwd: folder, variables: { LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers() } });
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${err}`);
  return out.trim().split("\n").map(Number);
}

test.each([["Java's client", java, "Placed.java"], ["librdkafka with murmur2_random", python, "placed.py"]] as const)("%s puts each key where this system looks for it", async (_name, language, file) => {
  const found = await language();
  for (const partitions of partitionCounts) {
    const expected = keys.map((key) => partitionOf(key, partitions));
    expect(await placed(found, file, partitions)).toEqual(expected);
    expect(new Set(expected).size).toBe(partitions);
  }
});
