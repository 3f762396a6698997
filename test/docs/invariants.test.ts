/** docs/invariants.md and the code agree: every invariant has a row, every row an invariant, and every test that a row names is there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { guardsOn } from "@loopledger/shared/core/fencing/guards";
import { describe, expect, test } from "vitest";
import { type Numbered, numberedInArchitecture, numberedInFiles } from "./heads.ts";
import { isNamed, testNames } from "./test-names.ts";

const root = join(import.meta.dirname, "../..");

interface Row {
  /** The heading that it stands under: `Promises`, `Architecture`, or a file. */
  readonly heading: string;
  /** A number, or a promise in its own words. */
  readonly what: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  readonly guard: string | null;
}
function rowsOf(page: string): Row[] {
  let heading = "";
  return page.split("\n").flatMap((line): Row[] => {
    heading = /^##+ (.+)$/.exec(line)?.[1] ?? heading;
    const cells = /^\| (.+?) \| (`.+`) \| (.+) \|$/.exec(line);
    if (!cells) return [];
    const [, what = "", tests = "", guard = ""] = cells;
    const named = tests.split("<br>").map((one) => /^`(\S+)` `(.+)`$/.exec(one)).map((found) => ({ file: found?.[1] ?? "", name: found?.[2] ?? "" }));
    return [{ heading, what, tests: named, guard: guard === "–" ? null : guard.replaceAll("`", "") }];
  });
}

const text = readFileSync(join(root, "docs/invariants.md"), "utf8");
const rows = rowsOf(text);
const promised = rows.filter(({ heading }) => heading === "Promises");
const architecture = rows.filter(({ heading }) => heading === "Architecture");
const ofFiles = rows.filter(({ heading }) => heading.endsWith(".ts"));
const listed = (numbered: readonly Numbered[]): string[] => numbered.map(({ place, number }) => `${place} ${number}`).sort();

describe("docs/invariants.md", () => {
  test("has a row for every promise that the README makes, in the same words", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const limits = readme.slice(readme.indexOf("\nWhat is promised:\n"), readme.indexOf("\nWhat is not, and what to know:\n"));
    const promises = [...limits.matchAll(/^- (.+)$/gm)].map(([, promise]) => promise);
    expect(promises.length).toBeGreaterThan(4);
    expect(promised.map(({ what }) => what)).toEqual(promises);
  });
  test("has a row for every invariant of ARCHITECTURE.md, and no other", () => {
    expect(architecture.map(({ what }) => `ARCHITECTURE.md ${what}`).sort()).toEqual(listed(numberedInArchitecture(root)));
  });
  test("has a row for every numbered invariant in the head of a file, and no other", () => {
    const numbered = numberedInFiles(root);
    for (const part of ["packages/shared/src/core/", "packages/shared/src/runtime/", "packages/shared/src/adapters/", "packages/audit/", "services/", "infra/"]) {
      expect(numbered.filter(({ place }) => place.startsWith(part)).length, part).toBeGreaterThan(1);
    }
    expect(new Set(listed(numbered)).size, "no number stands twice in a file").toBe(numbered.length);
    expect(ofFiles.map(({ heading, what }) => `${heading} ${what}`).sort(), "add the row, with the test that goes red without it").toEqual(listed(numbered));
  });
  test("has no row under another heading, and each file once", () => {
    expect(promised.length + architecture.length + ofFiles.length).toBe(rows.length);
    const headings = [...text.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...new Set(headings)]);
  });
  test("names tests that are there, by file and title", () => {
    const files = [...new Set(rows.flatMap(({ tests }) => tests.map(({ file }) => file)))];
    const names = new Map(files.map((file) => [file, existsSync(join(root, file)) ? testNames(join(root, file)) : []]));
    const missing = rows.flatMap(({ heading, what, tests }) =>
      tests.filter(({ file, name }) => !isNamed(names.get(file) ?? [], name)).map(({ file, name }) => `${heading} ${what}: ${file} has no test "${name}"`));
    expect(missing).toEqual([]);
    expect(rows.every(({ tests }) => tests.length > 0)).toBe(true);
  });
  test("names guards that are there, and every guard of the fold and of owners", () => {
    const named = new Set(rows.flatMap(({ guard }) => guard ?? []));
    expect([...named].filter((guard) => !Object.hasOwn(guardsOn, guard))).toEqual([]);
    for (const guard of ["fence", "dedupe", "readBack", "cursorCompare", "failureFirst"]) expect([...named]).toContain(guard);
  });
});

describe("names of tests", () => {
  test("are read with the groups around them", () => {
    const here = testNames(import.meta.filename);
    expect(isNamed(here, "are read with the groups around them")).toBe(true);
    expect(isNamed(here, "names of tests › are read with the groups around them")).toBe(true);
    expect(isNamed(here, "docs/invariants.md › are read with the groups around them")).toBe(false);
    expect(isNamed(here, "are read")).toBe(false);
  });
});
