import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { UsageError } from "../src/errors.ts";
import { readGoal, readGoalFile } from "../src/goal-file.ts";

const folder = mkdtempSync(join(tmpdir(), "loopledger-goal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function faultsOf(text: string): readonly string[] {
  try {
    readGoal(text);
  } catch (error) {
    if (error instanceof UsageError) return [error.code, ...error.faults];
    throw error;
  }
  return [];
}

describe("a goal that is right", () => {
  test("in YAML and in JSON is the same goal", () => {
    const yaml = "goal: Make it pass\nmaker: agent\ncheck: tests\nbudget: { iterations: 3 }\n";
    const json = '{\n\t"goal": "Make it pass",\n\t"maker": "agent",\n\t"check": "tests",\n\t"budget": { "iterations": 3 }\n}';
    expect(readGoal(yaml)).toEqual(readGoal(json));
    expect(readGoal(yaml)).toEqual({ goal: "Make it pass", maker: "agent", check: "tests", budget: { iterations: 3 } });
  });
});

describe("a goal that is wrong names every mistake", () => {
  test("unknown fields come with the nearest known name, wherever they stand", () => {
    const text = "goal: x\nmaker: a\ncheck: b\nbudjet: {}\npolicy: { approvals: [{ befor: deploy }], children: { deth: 1 } }\nleaves: [{ id: a, title: t, afer: [] }]\n";
    expect(faultsOf(text)).toEqual(expect.arrayContaining([
      "budjet: unknown field; did you mean budget?",
      "policy.approvals[0].befor: unknown field; did you mean before?",
      "policy.children.deth: unknown field; did you mean depth?",
      "leaves[0].afer: unknown field; did you mean after?",
    ]));
  });
  test.each([
    ["doubled keys in YAML", "goal: x\ngoal: y\nmaker: a\ncheck: b", /unique at line 2/],
    ["doubled keys in JSON", '{"goal":"x","goal":"y","maker":"a","check":"b"}', /unique/],
    ["a list", "- a\n- b", /it is a list/],
    ["plain text", "make it pass", /it is plain text/],
    ["nothing", "", /it is empty/],
    ["several documents", "goal: x\nmaker: a\ncheck: b\n---\ngoal: y\n", /several documents/],
    ["broken YAML", "goal: [", /line 1/],
    ["broken JSON", '{"goal": ', /it is no JSON: Unexpected end of JSON input/],
    ["missing fields", "goal: x", /maker: is missing/],
    ["half a character", '{"goal":"x\\ud800","maker":"a","check":"b"}', /half a character/],
    ["half a character deep inside", '{"goal":"x","maker":"a","check":"b","inputs":{"k":["\\udc00"]}}', /inputs\.k\.0: holds half a character/],
    ["a bad id", "id: 'a b'\ngoal: x\nmaker: a\ncheck: b", /id: must be 1 to 128/],
    ["a leaf that comes after none", "goal: x\nmaker: a\ncheck: b\nleaves: [{ id: a, title: t, after: [z] }]", /after z, which is no leaf/],
    ["a field that says how often to loop", "goal: x\nmaker: a\ncheck: b\nloops: 3", /loops: unknown field/],
  ])("%s", (_what, text, reason) => {
    const faults = faultsOf(text);
    expect(faults[0]).toBe("invalid_goal");
    expect(faults.slice(1).join("\n")).toMatch(reason);
  });
  test("one that nests without an end is refused, not followed", () => {
    expect(faultsOf(`{"goal":"x","maker":"a","check":"b","inputs":{"k":${"[".repeat(60_000)}${"]".repeat(60_000)}}}`)[0]).toBe("invalid_goal");
  });
  test("more than 256 KiB is refused before it is parsed", () => {
    expect(faultsOf(`goal: ${"x".repeat(262_144)}`)).toEqual(["goal_too_large"]);
  });
});

describe("a goal file", () => {
  test("of two megabytes is refused unread", async () => {
    const path = join(folder, "large.yaml");
    writeFileSync(path, "x".repeat(2_000_000));
    await expect(readGoalFile(path)).rejects.toMatchObject({ code: "goal_too_large" });
  });
  test("that is not UTF-8 is refused", async () => {
    const path = join(folder, "latin.yaml");
    writeFileSync(path, Buffer.from([0x67, 0x3a, 0x20, 0xff, 0xfe]));
    await expect(readGoalFile(path)).rejects.toMatchObject({ faults: ["it is not UTF-8 text"] });
  });
  test("that is not there, or is a folder, is said so", async () => {
    await expect(readGoalFile(join(folder, "none.yaml"))).rejects.toMatchObject({ code: "no_such_file" });
    await expect(readGoalFile(folder)).rejects.toMatchObject({ code: "no_such_file" });
  });
});
