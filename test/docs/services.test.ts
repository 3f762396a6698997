/** The table of settings in docs/guides/services.md has every variable that a process reads, and what holds where nothing is said. */
import { globSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { roleNames } from "@loopledger/composition/crew/roles";
import { readDeployment } from "@loopledger/composition/settings/deployment";
import { describe, expect, test } from "vitest";
import { pageOf } from "./page.ts";

const root = join(import.meta.dirname, "../..");
const source = (path: string): string => readFileSync(join(root, path), "utf8");
const guide = source("docs/guides/services.md");
const { names, row } = pageOf(join(root, "docs/guides/services.md"));
const sources = [...globSync("packages/composition/src/settings/*.ts", { cwd: root }), "packages/shared/src/runtime/config.ts"];
/** Members of schemas: a name, a colon and what reads it. Sentences that begin with a name stand in quotes. */
const read = [...new Set(sources.flatMap((path) => [...source(path).matchAll(/\b(LOOPLEDGER_[A-Z_]+): [a-z]/g)].map(([, name = ""]) => name)))];

describe("docs/guides/services.md", () => {
  test("has a row for every variable of the settings, and no other", () => {
    expect(read.length).toBeGreaterThan(15);
    expect(names("Settings")).toEqual(read.toSorted());
  });
  test("names what the command line reads beside them, and what is refused", () => {
    const own = [...source("packages/cli/src/environment.ts").matchAll(/value\("(LOOPLEDGER_[A-Z_]+)"\)/g)].map(([, name = ""]) => name);
    const ofSteps = /^LOOPLEDGER_STEP_/;
    for (const name of own.filter((one) => !read.includes(one) && !ofSteps.test(one))) expect(guide).toContain(`\`${name}\``);
    for (const name of ["LOOPLEDGER_TOKENS_FILE", "LOOPLEDGER_KEYS"]) {
      expect(guide).toContain(`\`${name}\``);
      expect(() => readDeployment({ [name]: "x" })).toThrow(name);
    }
  });
  test("has the values of a process that is told nothing", () => {
    const { leaseMs, silenceMs, host, dataFolder } = readDeployment({});
    expect(row("Settings", "LOOPLEDGER_LEASE_MS")).toContain(`(${leaseMs})`);
    expect(row("Settings", "LOOPLEDGER_SILENCE_MS")).toContain(`(${silenceMs})`);
    expect(row("Settings", "LOOPLEDGER_HOST")).toContain(`(${host}, `);
    expect(row("Settings", "LOOPLEDGER_DATA")).toContain(`(\`${relative(resolve("."), dataFolder)}\`)`);
  });
  test("has every role, with the port and the config of its program", () => {
    expect(names("Services and their settings")).toEqual([...roleNames].sort());
    for (const name of roleNames) {
      const port = Number(/\{ port: ([\d_]+) \}/.exec(source(`services/${name}/src/config.ts`))?.[1]?.replace("_", ""));
      const main = source(`services/${name}/src/main.ts`);
      const needs = main.includes("runsHandlers: true") ? "yes" : main.includes("knowsHandlers: true") ? "may have one" : "no";
      expect(row("Services and their settings", name)).toMatch(new RegExp(`\\| ${needs} \\| ${port === 0 ? "any" : port} \\|$`));
    }
  });
});

test.each(globSync("services/*/README.md", { cwd: root }).sort())("%s leaves the settings to the guide, and names none that is not there", (path) => {
  const text = source(path);
  expect(text).toContain("(../../docs/guides/services.md)");
  expect(text).toContain(`node services/${basename(join(path, ".."))}/src/main.ts`);
  const named = [...text.matchAll(/`(LOOPLEDGER_[A-Z_]+)`/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !read.includes(name))).toEqual([]);
  expect(text).not.toMatch(/^\| `LOOPLEDGER_/m);
});
