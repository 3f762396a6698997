import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Workshop, patienceMs } from "./workshop.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(() => shop.close());

/** Every file of the folder with a digest of its content. */
function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name)).sort()
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
}

test("a ledger of a later format is refused by whoever opens it, with 7, and not a byte is written beside it", async () => {
  expect(await shop.run("run", "x", "--maker", "true", "--check", "true", "--id", "s")).toMatchObject({ code: 0 });
  const folder = join(shop.folder, ".loopledger");
  const file = new DatabaseSync(join(folder, "ledger.db"));
  file.exec("PRAGMA user_version=7; PRAGMA wal_checkpoint(TRUNCATE);");
  file.close();
  const before = contentOf(folder);
  const commands = [
    ["ls"], ["status", "s"], ["events", "s"], ["explain", "s"], ["wait", "s"], ["ledger", "dump"], ["audit"], ["pause", "s"], ["cancel", "s"], ["advance", "s"],
    ["run", "y", "--maker", "true", "--check", "true"],
  ];
  for (const words of commands) {
    expect(await shop.run(...words), words.join(" ")).toMatchObject({ code: 7, out: "", err: expect.stringMatching(/has format 7; this release reads up to 2\.[\s\S]*newer release/) });
  }
  expect(JSON.parse((await shop.run("ls", "--json")).err)).toMatchObject({ error: { code: "ledger_newer" } });
  expect(contentOf(folder)).toEqual(before);
});
