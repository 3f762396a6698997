import { describe, expect, it } from "vitest";
import { type RowId, audit, exitOf, rowIds } from "@loopledger/audit";
import type { Planting } from "./plant.ts";
import { effectPlantings } from "./planted/effects.ts";
import { furtherPlantings } from "./planted/further.ts";
import { loopPlantings } from "./planted/loop.ts";
import { outsidePlantings, soundInputs } from "./planted/outside.ts";
import { tenurePlantings } from "./planted/tenure.ts";

const plantings: readonly Planting[] = [...tenurePlantings, ...effectPlantings, ...loopPlantings, ...outsidePlantings, ...furtherPlantings];
const planted = plantings.map((planting) => planting());

describe("a ledger with one thing wrong", () => {
  it.each(planted)("$row: $what", ({ row, inputs, options }) => {
    const { violations } = audit(inputs, options);
    expect([...new Set(violations.map(({ id }) => id))], JSON.stringify(violations, null, 1)).toEqual([row]);
  });

  it("is planted for every row of the audit", () => {
    const rows = new Set(planted.map(({ row }) => row));
    expect(rowIds.filter((row: RowId) => !rows.has(row))).toEqual([]);
  });

  it("says where, and leaves with 1", () => {
    const { inputs } = tenurePlantings[0]?.() ?? { inputs: soundInputs() };
    const report = audit(inputs);
    expect(report.violations).toEqual([{ id: "S1", sessionId: "session-1", partition: 0, offset: inputs.ledger.length - 1, detail: expect.stringContaining("another") }]);
    expect(exitOf(report, true)).toBe(1);
  });
});

describe("a ledger with nothing wrong", () => {
  it("gives no violation with every kind of evidence beside it", () => {
    const report = audit(soundInputs());
    expect(report.violations).toEqual([]);
    expect(report.counts).toEqual({ accepted: 8, held: 0, void: {} });
    expect(exitOf(report, false)).toBe(0);
  });
  it("proves little where little was seen: coverage is missing, and an injected fault that never fired is named", () => {
    const report = audit({ ...soundInputs(), faults: [{ name: "worker killed", fired: false }] });
    expect(report.uncovered).toEqual(expect.arrayContaining(["contested_claim", "settled_did_not_happen", "fault worker killed"]));
    expect(exitOf(report, true)).toBe(2);
  });
});
