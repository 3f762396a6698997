import { describe, expect, it } from "vitest";
import { canonicalJson } from "@loopledger/shared/core/json";
import { statusOf } from "@loopledger/shared/core/session/status";
import { emptySession } from "@loopledger/shared/core/session/state";
import { foldAll, wordFor } from "@loopledger/shared/testing";
import { readHistories } from "./history.ts";

const histories = readHistories();

describe.each(histories)("history $name of release $release", ({ entries, expected }) => {
  const sessionId = expected.sessionId as never;
  it("gives every record the verdict that its release gave it", () => {
    expect(foldAll(entries, { sessionId }).verdicts.map(wordFor)).toEqual(expected.verdicts);
  });
  it("gives status and running digest byte for byte", () => {
    const { state } = foldAll(entries, { sessionId });
    expect(state.digest).toBe(expected.digest);
    expect(canonicalJson(statusOf(state))).toBe(canonicalJson(expected.status));
  });
  it("gives the same from any snapshot on", () => {
    for (let cut = 0; cut <= entries.length; cut++) {
      const early = foldAll(entries.slice(0, cut), { from: emptySession(sessionId) });
      const { state } = foldAll(entries.slice(cut), { from: JSON.parse(JSON.stringify(early.state)) });
      expect(canonicalJson(statusOf(state))).toBe(canonicalJson(expected.status));
    }
  });
});

it("there is a history of every release, and the first is rich: takeover, tool, reconciliation, retry, FAIL, PASS, receipt", () => {
  expect(histories.map((history) => history.release)).toContain("1");
  const types = new Set(histories[0]?.entries.map((entry) => (entry.parsed.kind === "record" ? entry.parsed.record.type : entry.parsed.kind)));
  for (const type of ["claimed", "tool_requested", "tool_result", "reconciled", "retry", "timer_fired", "approval_decided", "check", "receipt", "status", "malformed"]) {
    expect([...types]).toContain(type);
  }
  expect(new Set(histories[0]?.expected.verdicts).size).toBeGreaterThan(6);
});
