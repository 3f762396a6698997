import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { describe, expect, test } from "vitest";
import { fitting, makeScreen } from "../src/story/screen.ts";
import { lineOf } from "../src/story/story.ts";
import { spokenLog } from "../src/story/spoken-log.ts";
import { oneLine, tell } from "../src/story/telling.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const plain = (_style: unknown, text: string): string => text;

function screen(redraws: boolean, now?: () => string) {
  let written = "";
  const stream = { write: (text: string) => { written += text; return true; }, columns: 40 } as unknown as NodeJS.WriteStream;
  return { ...makeScreen({ stream, redraws, ...(now && { now }) }), text: () => written };
}

describe("the screen", () => {
  test("shows pieces of output as whole lines, and tears nothing apart", () => {
    const shown = screen(false);
    shown.piece(bytes("one\ntw"), "| ");
    shown.piece(bytes("o\nthr"), "| ");
    shown.line("a record");
    shown.piece(bytes("ee"), "| ");
    shown.close();
    expect(shown.text()).toBe("| one\n| two\n| thr\na record\n| ee\n");
  });
  test("joins a character whose bytes come apart", () => {
    const shown = screen(false);
    const [first = 0, second = 0] = bytes("ü");
    shown.piece(Uint8Array.of(first), "");
    shown.piece(Uint8Array.of(second, 0x0a), "");
    shown.close();
    expect(shown.text()).toBe("ü\n");
  });
  test("on a terminal nothing that others print steers it, and the live line is taken away at the end", () => {
    const shown = screen(true, () => "working");
    shown.piece(bytes("\u001b[2Jgone\u001b[31mred\u0007\n"), "| ");
    shown.close();
    expect(shown.text()).toContain("| gonered\n");
    for (const steering of ["\u0007", "\u001b[2J", "\u001b[31m"]) expect(shown.text()).not.toContain(steering);
    expect(shown.text().endsWith("\r\u001b[2K")).toBe(true);
  });
  test("cuts what is wider than the terminal", () => {
    expect(fitting("x".repeat(100), 20)).toBe(`${"x".repeat(18)}…`);
    expect(fitting("short", 20)).toBe("short");
  });
});

describe("a record is told in one line", () => {
  const record = (type: string, data: object): LedgerRecord => ({ type, data, actor: { kind: "checker", id: "c" } }) as unknown as LedgerRecord;
  test("a failed check by the line of its output that speaks of the failure", () => {
    const told = tell(record("check", {
      verdict: "FAIL", next_steps: ["Make it pass"], evidence: { exitCode: 1, output: "ok 1\nError: 3 is not 4\n  at file.js:3\n}\n" },
    }));
    expect(told).toMatchObject({ what: "FAIL", text: "Error: 3 is not 4" });
  });
  test("a failed check by the test that failed, not by the counts and brackets behind it", () => {
    const output = "not ok 1 - adds two numbers\n1..1\n# fail 1\n# duration_ms 94.617378\n(operator: '==')\n}\n";
    expect(tell(record("check", { verdict: "FAIL", next_steps: ["Make it pass"], evidence: { exitCode: 1, output } }))).toMatchObject({ text: "not ok 1 - adds two numbers" });
  });
  test("a failed check without output by its first next step", () => {
    expect(tell(record("check", { verdict: "FAIL", next_steps: ["Do this", "Do that"], evidence: {} }))).toMatchObject({ text: "Do this (and 1 more)" });
  });
  test("a check without a verdict by why there is none", () => {
    const evidence = { why: "the check did not end within 600 s", output: "still at work" };
    expect(tell(record("check", { verdict: "INCONCLUSIVE", next_steps: [], evidence }))).toMatchObject({ what: "unclear", text: "the check did not end within 600 s" });
  });
  test("with its seq, its mark and the session where several are told", () => {
    const told = tell(record("built", { summary: "mended it", usage: { costUsd: 0.5 } }));
    expect(told && lineOf(told, { seq: 7, sessionId: "fix" as never, paint: plain, columns: undefined })).toBe("    7 ■ built    fix mended it ($0.50)");
  });
  test("a check that could not start counts as red, and is told by its cause", () => {
    const evidence = { why: "the check could not start: no such program ./check.sh" };
    expect(tell(record("check", { verdict: "FAIL", next_steps: ["Make it pass"], evidence }))).toMatchObject({ what: "not run", text: `${evidence.why}; before any work that counts as red: the work may make what it lacks` });
    expect(tell(record("check", { verdict: "INCONCLUSIVE", next_steps: [], evidence: { moved: true, note: "the workspace changed" } }))).toMatchObject({ text: "the workspace changed" });
  });
  test("an observation by what was seen, and a maker that says nothing as one", () => {
    expect(tell(record("grounding", { scope: "inbox", outcome: "observed", items: 1 }))).toMatchObject({ what: "seen", text: "inbox: observed, 1 item", style: "dim" });
    expect(tell(record("grounding", { scope: "inbox", outcome: "partial", items: 3 }))).toMatchObject({ text: "inbox: partial, 3 items", style: "yellow" });
    expect(tell(record("built", { summary: "", usage: {} }))).toMatchObject({ text: "without a word" });
  });
  test("text of others is shown without what steers a terminal", () => {
    expect(oneLine("\n  \u001b]0;title\u0007hello\u001b[1m\r there\n more")).toBe("hello there");
  });
});

describe("what goes wrong beside the sessions", () => {
  test("is one sentence each, without JSON, and the same one once in a row", () => {
    const told: string[] = [];
    const log = spokenLog((sentence) => told.push(sentence));
    log.info({ session: "fix" }, "not for people");
    log.warn({ err: new Error("disk I/O\n  at x.ts:1"), session: "fix", attempt: 1 }, "append not acknowledged");
    log.warn({ err: new Error("disk I/O\n  at x.ts:1"), session: "fix", attempt: 2 }, "append not acknowledged");
    log.child({ role: "worker" }).error("gone");
    expect(told).toEqual(["  ! fix: append not acknowledged: disk I/O", "  ! gone"]);
  });
});
