/** The examples that a script shows run here as they stand. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

describe("an example as it stands", () => {
  test.each(["effect-killed", "ralph", "own-language"])("%s ends as it says", async (name) => {
    const ended = run("sh", [join(root, "examples", name, "run.sh")], { cwd: root, timeout: 600_000, maxBuffer: 20_000_000 });
    await expect(ended).resolves.toMatchObject({ stdout: expect.stringMatching(/\S/) });
  }, 620_000);
});
