import { hash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLedgerFile } from "./ledger-file.ts";

it("is flushed to the disk with every commit, and its positions begin at 1 without a hole", () => {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-file-"));
  const clock = { now: () => 1_000, monotonic: () => 0, after: () => () => undefined };
  const ids = { uuid: () => randomUUID(), random: () => 0, sha256: (text: string) => hash("sha256", text) };
  const { db, end } = openLedgerFile({ folder, partitions: 3, clock, ids });
  try {
    // 2 is FULL: in the write-ahead log's mode that is one flush for each commit; NORMAL would flush at checkpoints alone.
    expect([db.prepare("PRAGMA synchronous").get(), db.prepare("PRAGMA journal_mode").get()]).toEqual([{ synchronous: 2 }, { journal_mode: "wal" }]);
    expect(db.prepare("SELECT pos FROM rec ORDER BY pos").all().map(({ pos }) => pos)).toEqual([1, 2, 3]);
    expect(end).toBe(3);
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
});
