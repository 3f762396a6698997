import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findConfig, loadProject, readConfig } from "../src/project/project.ts";
import type { Refusal } from "../src/refusals.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-config-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const load = (configPath: string | null = null) => loadProject({ folder, configPath, dataFolder: join(folder, "data") });
const write = (name: string, text: string) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
};

describe("a config is found and read", () => {
  test.each([
    ["loopledger.config.json", '{ "makers": { "agent": { "exec": ["./agent.sh"] } } }'],
    ["loopledger.config.yaml", "makers: { agent: { exec: [./agent.sh] } }\n"],
    ["loopledger.config.mjs", "export default { makers: { agent: { exec: ['./agent.sh'] } } };\n"],
  ])("%s", async (name, text) => {
    write(name, text);
    const project = await load();
    expect(project.path).toBe(join(folder, name));
    expect(Object.keys(project.handlers.makers)).toEqual(["agent"]);
  });
  test("none is an empty project", async () => {
    expect(await load()).toMatchObject({ path: null, folder });
  });
  test("two of them are refused, because one would be overlooked", () => {
    write("loopledger.config.json", "{}");
    write("loopledger.config.yaml", "{}");
    expect(() => findConfig(folder)).toThrow(/several configs/);
  });
});

describe("a config that is wrong", () => {
  test("names all mistakes at once, with the nearest known names", () => {
    const value = {
      maker: {}, prepare: { exec: "x" }, makers: { agent: { exce: ["x"] } }, checks: { tests: { exec: ["npm", "test"], timeoutSecond: 3 } },
      tools: { deploy: { exec: ["x"], contract: "lookup" } },
    };
    try {
      readConfig(join(folder, "c.json"), value);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_config", exitCode: 2 });
      expect((error as Refusal).faults.join("\n")).toMatch(
        /prepare\.exec: .*\n.*maker: unknown field; did you mean makers\?\n.*makers\.agent: .*did you mean exec\?\n.*timeoutSecond; did you mean timeoutSeconds\?\n.*deploy: contract lookup needs lookup/s,
      );
    }
  });
  test.each([
    ["loopledger.config.json", "{ broken", /line 1/],
    ["loopledger.config.yaml", "- a list", /holds no config/],
    ["loopledger.config.mjs", "export const config = {};", /no default export/],
    ["loopledger.config.mjs", "throw new Error('not today')", /not today/],
    ["loopledger.config.mjs", "import 'no-such-package-here'", /no-such-package-here/],
  ])("%s with %j", async (name, text, reason) => {
    write(name, text);
    const error = await load().then(() => null, (thrown: unknown) => thrown as Refusal);
    expect(error).toMatchObject({ code: "invalid_config", exitCode: 2 });
    expect([error?.message, ...(error?.faults ?? [])].join("\n")).toMatch(reason);
  });
  test("one that was named and is not there", async () => {
    await expect(load(join(folder, "none.json"))).rejects.toMatchObject({ code: "no_such_file", exitCode: 2 });
  });
});
