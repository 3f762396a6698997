import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { missingProgram } from "./programs.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-programs-"));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "judge"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "notes.txt"), "no program", { mode: 0o644 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  { name: "by a relative path", program: "./bin/judge", path: "", missing: null },
  { name: "by its name in PATH", program: "judge", path: "/nowhere:bin", missing: null },
  { name: "a folder", program: "./bin", path: "", missing: "./bin" },
  { name: "a file that may not be executed", program: "./notes.txt", path: "", missing: "./notes.txt" },
  { name: "a mistyped path", program: "./bin/jugde", path: "bin", missing: "./bin/jugde" },
  { name: "a name that no folder of PATH has", program: "jugde", path: "bin", missing: "jugde" },
  { name: "a name without PATH's folder", program: "judge", path: "/nowhere", missing: "judge" },
])("$name", ({ program, path, missing }) => {
  expect(missingProgram({ exec: [program, "--strict"] }, { folder, path })).toBe(missing);
});

it("of a shell's line nothing is said", () => {
  expect(missingProgram({ exec: "jugde && true", shell: true }, { folder, path: "" })).toBeNull();
});
