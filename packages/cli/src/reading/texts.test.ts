import { type Act, type Story, actionOf, asks, begin, claim, fails, own, owed, passes, person, sha256, toBuild, toReview } from "@loopledger/shared/testing";
import type { LogEntry } from "@loopledger/shared/ports";
import { describe, expect, test } from "vitest";
import { RowMaker, jsonRow } from "./event-rows.ts";
import { jsonOf, seconds, wholeNumber } from "./flags.ts";
import { nearestIds } from "./missing.ts";
import { eventLine } from "./record-line.ts";
import { firstLine, listLine, standingText, statusBlock } from "./status-text.ts";

const plain = (_style: unknown, text: string): string => text;
const rowsOf = (story: Story) => {
  const rows = new RowMaker(story.state.sessionId, { sha256 });
  return story.entries.map(({ partition, offset, time, key, text }) => rows.take({ partition, offset, time, key, value: text } satisfies LogEntry));
};
const linesOf = (acts: readonly Act[]): string[] => rowsOf(begin(acts)).map((row) => eventLine(row, plain));

describe("a status as a person reads it", () => {
  test("names what is there and leaves out what is empty", () => {
    const lines = statusBlock(begin(toBuild()).status, plain);
    expect(lines[0]).toBe("session-1  running");
    expect(lines.find((line) => line.includes("now"))).toMatch(/build of iteration 1 by worker W: Make the test pass$/);
    for (const absent of ["receipt", "verdict", "waits for", "effects", "error", "children", "refused", "leaves"]) expect(lines.join("\n")).not.toContain(absent);
  });
  test("shows verdict, receipt, unknown effects with their keys, and how many records were refused", () => {
    const done = statusBlock(begin([...toReview(), passes(), owed()]).status, plain).join("\n");
    expect(done).toMatch(/verdict\s+PASS at seq 6/);
    expect(done).toMatch(/receipt\s+seq 7: tests passed at seq 6 on r1/);
    const lost = begin([...toBuild(), asks("mail:ann", { contract: "unsafe" }), claim("X")]);
    lost.when(claim("rival")).thenVoid("after_end");
    const text = statusBlock(lost.status, plain).join("\n");
    expect(text).toContain("failed: incomplete tool turn");
    expect(text).toMatch(/effects\s+unknown: mail:ann/);
    expect(text).toMatch(/waits for\s+reconciliation mail:ann/);
    expect(text).toMatch(/refused\s+1 after_end/);
  });
  test("shows the leaves of a tree with their marks", () => {
    const tree = begin([...toBuild({ goal: { leaves: [{ id: "api", title: "The API" }, { id: "ui", title: "ui", after: ["api"] }] } }), own("built")]);
    const text = statusBlock(tree.status, plain).join("\n");
    expect(text).toContain("? api  The API");
    expect(text).toMatch(/· ui$/m);
  });
  test("a line of a list is one line, however long the goal is", () => {
    const line = listLine(begin(toBuild({ goal: { goal: `${"word ".repeat(50)}\nsecond` } })).status, 12, plain);
    expect(line).not.toContain("\n");
    expect(line).toMatch(/^session-1 {5}running/);
  });
  test("cuts between whole characters", () => {
    expect(firstLine("ab\u{1F600}cd", 4).isWellFormed()).toBe(true);
    expect(standingText({ disposition: "handed_off", reason: "no_progress" }, plain)).toBe("handed off: no progress");
  });
});

test("nothing in a text of others can steer a terminal", () => {
  const evil = "\u001b[2Jgone\u0007\u009b1m";
  const story = begin([...toBuild({ goal: { goal: evil } }), asks(`mail:${evil}`, { contract: "unsafe" }), own("tool_result", { key: `mail:${evil}` }), own("built", { summary: evil })]);
  const lines = [...statusBlock(story.status, plain), listLine(story.status, 8, plain), ...rowsOf(story).map((row) => eventLine(row, plain))];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there.
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  expect(lines.join("\n")).toContain("gone");
});

describe("the lines of events", () => {
  test("say in a few words what happened", () => {
    const lines = linesOf([...toBuild(), asks("deploy:1"), own("tool_result", { key: "deploy:1" }), own("built"), owed(), fails({ next_steps: ["mend the sum"] })]);
    expect(lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(lines[1]).toContain("build of goal, iteration 1: Make the test pass");
    expect(lines[2]).toMatch(/process \d+ takes it/);
    expect(lines[3]).toContain("deploy deploy:1 (lookup)");
    expect(lines[4]).toContain("deploy:1 confirmed");
    expect(lines[7]).toContain("FAIL by tests: mend the sum");
  });
  test("a refused record is told with its reason, and one that cannot be read with what is wrong with it", () => {
    const story = begin(toBuild());
    story.when(claim("rival", { epoch: 1 })).thenVoid("rival");
    story.appendText("{broken");
    const rows = rowsOf(story);
    expect(rows.slice(-2).map((row) => eventLine(row, plain))).toEqual([expect.stringContaining("refused: rival"), expect.stringContaining("refused: malformed (not JSON)")]);
    expect(jsonRow(rows.at(-2) as never)).toMatchObject({ type: "claimed", void: "rival", cursor: 3 });
    expect(jsonRow(rows.at(-1) as never)).toEqual({ text: "{broken", void: "malformed", detail: "not JSON", cursor: 3 });
  });
  test("a record that holds the session is told as held, and never as refused", () => {
    const story = begin(toBuild());
    story.appendText(JSON.stringify({ ...JSON.parse(story.entries[0]?.text ?? "{}"), eventId: "new", type: "teleported" }));
    const row = rowsOf(story).at(-1) as never;
    expect(jsonRow(row)).toMatchObject({ type: "teleported", held: "type teleported" });
    expect(jsonRow(row)).not.toHaveProperty("void");
  });
  test("acts of people name the person", () => {
    const lines = linesOf([
      ...toBuild(), own("approval_requested", { checkpoint: "cp-1", trigger: "before", expires: null, ...actionOf("deploy", { to: "production" }) }),
      person("approval_decided", { checkpoint: "cp-1", comment: "fine" }, "bob"),
    ]);
    expect(lines.at(-1)).toContain("APPROVE at cp-1 by bob: fine");
  });
});

describe("values of flags", () => {
  test.each(["-1", "1.5", "x", "", "1e3", "9".repeat(16)])("%j is no whole number", (text) => {
    expect(() => wholeNumber(text, { flag: "--after" })).toThrow("--after takes a whole number");
  });
  test.each(["-1", "x", "", "1e3"])("%j is no time in seconds", (text) => {
    expect(() => seconds(text, "--timeout")).toThrow("--timeout takes seconds");
  });
  test("those that fit are read as they are", () => {
    expect([wholeNumber("0", { flag: "-" }), wholeNumber("41", { flag: "-", least: 1 }), seconds("0.25", "-"), jsonOf("[1]", "-")]).toEqual([0, 41, 0.25, [1]]);
    expect(() => jsonOf("{", "--action")).toThrow("--action takes JSON");
    expect(() => wholeNumber("0", { flag: "--limit", least: 1 })).toThrow("from 1 on");
  });
});

test("the nearest ids are those of a slip of the pen, and those that begin alike", async () => {
  expect(await nearestIds("fix-loign", ["fix-login", "deploy"])).toEqual(["fix-login"]);
  expect(await nearestIds("run-0a1b", ["run-0a1b2c3d", "run-0a1b2c3d-2", "other"])).toEqual(expect.arrayContaining(["run-0a1b2c3d", "run-0a1b2c3d-2"]));
  expect(await nearestIds("zzz", ["fix-login"])).toEqual([]);
});
