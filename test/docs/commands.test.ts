/** Every command that a text names can be typed: the program's own parser takes it. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandList } from "loopledger/command-list";
import { exitCodes } from "loopledger/exit-codes";
import { makeProgram } from "loopledger/program";
import { describe, expect, test } from "vitest";
import { type Named, namedInDocument, namedInSource } from "./commands.ts";

const root = join(import.meta.dirname, "../..");
const files = (...patterns: string[]): string[] => globSync(patterns, { cwd: root, exclude: (name) => name.includes("node_modules") }).map((path) => join(root, path));

/** Parses the words as the command would, and does nothing. Throws what the parser refuses. */
async function parse(words: readonly string[]): Promise<void> {
  const program = await makeProgram(words, () => async () => undefined);
  if (!words.includes("--help")) await program.parseAsync(words, { from: "user" });
}
async function refused(named: readonly Named[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { place, words } of named) {
    await parse(words).catch((error: Error) => faults.push(`${place}: loopledger ${words.join(" ")}: ${error.message}`));
  }
  return faults;
}

describe("commands that can be typed", () => {
  test("those in what the command line, the core and the services print", async () => {
    const named = files("packages/cli/src/**/*.ts", "infra/**/*.ts", "packages/shared/src/core/**/*.ts", "services/*/src/**/*.ts").filter((path) => !path.endsWith(".test.ts")).flatMap(namedInSource);
    const names = new Set(named.map(({ words }) => words[0]));
    for (const name of ["verify", "resume", "budget", "reconcile", "advance", "events", "run", "submit"]) expect([...names]).toContain(name);
    expect(named.length).toBeGreaterThan(60);
    expect(await refused(named)).toEqual([]);
  });
  test("those in the documents", async () => {
    const named = files("*.md", "docs/**/*.md", "infra/*.md", "examples/**/*.md", "packages/*/*.md", "packages/cli/templates/**/*.md", "services/*/*.md").flatMap(namedInDocument);
    expect(named.length).toBeGreaterThan(10);
    expect(await refused(named)).toEqual([]);
  });
  test("a command or a flag that is not there is found", async () => {
    expect(await refused([{ place: "here", words: ["export", "X"] }, { place: "there", words: ["verify", "X", "--format", "markdown"] }])).toEqual([
      expect.stringContaining('no command "export"'), expect.stringContaining("--format"),
    ]);
    expect(commandList.map(({ name }) => name)).toContain("verify");
  });
});

describe("README", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  test("lists every command, and no other", () => {
    const table = readme.slice(readme.indexOf("\nAll commands"), readme.indexOf("\nExit codes"));
    // What stands in brackets says something of a command, and may name another one.
    const listed = [...table.replace(/\([^)]*\)/g, "").matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
    expect(listed.sort()).toEqual(commandList.map(({ name }) => name).sort());
  });
  test("lists every exit code, and no other", () => {
    const list = /^Exit codes: ([^.]+)\./m.exec(readme)?.[1] ?? "";
    expect([...list.matchAll(/\b(\d+) /g)].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
  });
});
