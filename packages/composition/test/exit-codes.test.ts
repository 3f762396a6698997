import { describe, expect, test } from "vitest";
import type { Disposition, Reason } from "@loopledger/shared/core/events/fields";
import { exitCodeOf, isAtRest } from "../src/exit-codes.ts";

describe("the exit code of a status", () => {
  test.each<[Disposition, Reason | null, number]>([
    ["done", null, 0], ["done", "no_mutation_owed", 0],
    ["failed", "ledger_lost", 1], ["failed", "incomplete_tool_turn", 3],
    ["waiting", "approval", 3], ["waiting", "paused", 3], ["waiting", "handler_missing", 3], ["waiting", "check_changed", 3],
    ["waiting", "evidence_missing", 3], ["waiting", "unknown_schema", 3],
    ["waiting", "budget_exhausted", 4],
    ["waiting", "retry", 8], ["waiting", "children", 8],
    ["handed_off", "no_progress", 5], ["handed_off", "approval_rejected", 5],
    ["cancelled", "cancelled", 6],
    ["running", null, 8],
  ])("%s %s leaves with %i", (disposition, reason, code) => {
    expect(exitCodeOf({ disposition, reason })).toBe(code);
    expect(isAtRest({ disposition, reason })).toBe(code !== 8);
  });
});
