import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runSuite } from "./suite/run-suite.mjs";
import { FAULTS, openStage, type Stage } from "./testing/stage.ts";

/** Each test starts several processes: on a busy machine that takes its time. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
});

describe("a verdict", () => {
  it("names each failing test, and the first next step is about the first of them", async () => {
    const { ended, validation } = await stage.check();
    expect(ended.code).toBe(0);
    expect(validation).toMatchObject({ verdict: "FAIL", evidence: { tests: 23, passed: 17, remaining: 6 } });
    expect(validation.next_steps).toHaveLength(6);
    for (const [i, id] of validation.evidence.failing.entries()) expect(validation.next_steps[i]).toContain(id);
    expect(validation.next_steps[0]).toBe(
      "Make this test pass: test/dates.mjs: daysLate counts from the due day (0 !== 1)",
    );
  });

  it("is the same text for the same code", async () => {
    const first = await stage.check();
    const second = await stage.check();
    expect(second.validation).toEqual(first.validation);
  });

  it("is PASS without a next step when all tests pass", async () => {
    for (const { file, wrong, right } of FAULTS) stage.replace(file, wrong, right);
    const { validation } = await stage.check();
    expect(validation).toMatchObject({ verdict: "PASS", evidence: { remaining: 0 }, next_steps: [] });
  });

  it("counts a source file that cannot be read as failing tests", async () => {
    stage.replace("src/money.mjs", "export function split(", "export function split((");
    const { validation } = await stage.check();
    expect(validation.verdict).toBe("FAIL");
    expect(validation.evidence.failing.some((id: string) => id.startsWith("test/money.mjs"))).toBe(true);
  });
});

describe("no verdict, exit 75, where the tests could not be run", () => {
  it.each([
    ["the repository has no package.json", () => rmSync(join(stage.workspace, "package.json"))],
    ["the test script was replaced", () => stage.replace("package.json", "node --test", "true")],
    ["the test script hands a shell something else", () => stage.replace("package.json", "node --test", "node --test || true")],
    ["there is no test left", () => rmSync(join(stage.workspace, "test"), { recursive: true })],
    ["every test is skipped", () => {
      rmSync(join(stage.workspace, "test"), { recursive: true });
      writeFileSync(join(stage.workspace, "only.test.mjs"), 'import { test } from "node:test";\ntest("nothing", { skip: true }, () => {});\n');
    }],
  ])("%s", async (_, spoil) => {
    spoil();
    const { ended, validation } = await stage.check();
    expect(ended.code).toBe(75);
    expect(ended.stderr).toContain("The tests could not be run");
    expect(validation).toBeNull();
  });

  it("a test that never ends is cut off, and is no verdict", async () => {
    writeFileSync(join(stage.workspace, "test", "endless.mjs"), "for (;;);\n");
    expect(await runSuite(stage.workspace, { timeoutMs: 1500 })).toEqual({
      ran: false,
      why: "the test command did not end in time",
    });
  });
});
