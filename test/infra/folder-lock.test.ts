import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runAtOnce } from "../contract/run-at-once.ts";

vi.setConfig({ testTimeout: 240_000 });

test("one process at a time works on a folder, whoever gives the lock up meanwhile, and nothing is left of it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-lock-"));
  try {
    await runAtOnce(4, [join(import.meta.dirname, "fixtures/lock-again.ts"), join(folder, "lock"), "150"]);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
