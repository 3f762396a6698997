import { describe, expect, it } from "vitest";
import { type AuditInputs, audit, exitOf } from "@loopledger/audit";
import type { Epoch, EventId, OwnerId, SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import {
  type Act, Story, asks, claim, dispatchAhead, fails, own, owed, passes, person, recordOf, reported, testSession, toBuild, toReview,
} from "@loopledger/shared/testing";
import { changed, dumpOf, effectOf } from "./plant.ts";

type Telling = (id: SessionId) => AuditInputs;
/** The story of a session under any id: ids of derived records hang on it. */
const told = (given: readonly Act[], ...then: readonly Act[]): Telling => (id) => {
  const story = new Story({ sessionId: id });
  for (const act of given) story.given(changed(act, { sessionId: id }));
  for (const act of then) story.append(changed(act, { sessionId: id }));
  return { ledger: dumpOf(story) };
};
const unknown = [...toBuild(), asks("k1"), claim("V")];
const stale = recordOf("built", {}, { ownerId: "Z" as OwnerId, epoch: 1 as Epoch, n: 1, cause: "elsewhere" as EventId });
const early = recordOf("resumed");

const shows: readonly { readonly name: string; readonly inputs: Telling }[] = [
  { name: "contested_claim", inputs: told(toBuild(), claim("V", { epoch: 1 })) },
  { name: "stale_write", inputs: told([...toBuild(), claim("V")], own("step", {}, { epoch: 1 as Epoch, ownerId: "W" as OwnerId, n: 1 })) },
  { name: "duplicate", inputs: told(toBuild(), own("error"), own("error", {}, { n: 1 })) },
  { name: "suppressed_dispatch", inputs: told(toBuild(), (story) => again(story, 1)) },
  { name: "settled_happened", inputs: told(unknown, own("reconciled", { key: "k1" })) },
  { name: "settled_did_not_happen", inputs: told(unknown, own("reconciled", { key: "k1", outcome: "did_not_happen" })) },
  { name: "half_void_batch", inputs: told(toBuild(), stale, dispatchAhead(stale.eventId, { cycle: "review", leaf: "goal", iteration: 1, task: "" })) },
  { name: "void_then_accepted", inputs: told(toBuild(), early, person("pause_requested"), early) },
  { name: "self_reclaim", inputs: told(toBuild(), claim("W")) },
  { name: "receipt_by_another", inputs: told([...toReview(), passes(), owed(), reported()]) },
  { name: "fenced_call", inputs: () => ({ ledger: [], effects: [effectOf("k1", { kind: "refused", at: 0 })] }) },
  { name: "refused_approval", inputs: told([...toBuild(), own("approval_requested", {}, { actor: { kind: "maker", id: "ann" } })], person("approval_decided")) },
  { name: "budget_stop", inputs: told([...toReview({ goal: { budget: { iterations: 1 } } }), fails()]) },
  { name: "view_rebuilt", inputs: () => ({ ledger: [], views: [{ kind: "rebuilt" }] }) },
  { name: "fault worker killed", inputs: () => ({ ledger: [], faults: [{ name: "worker killed", fired: true }] }) },
];

function again({ entries }: Story, index: number): LedgerRecord {
  return JSON.parse(entries[index]?.text ?? "{}") as LedgerRecord;
}

describe("coverage", () => {
  it.each(shows)("counts $name where it is seen", ({ name, inputs }) => {
    const given = inputs(testSession);
    expect(audit(given).coverage.find((line) => line.name === name)?.count).toBeGreaterThan(0);
    expect(audit({ ledger: told(toBuild())(testSession).ledger }).uncovered).toEqual(expect.arrayContaining(name.startsWith("fault") ? [] : [name]));
  });

  it("is enough once everything was seen, in whichever session", () => {
    const all = shows.map(({ inputs }, index) => inputs(`s-${index}` as SessionId));
    const report = audit({
      ledger: all.flatMap(({ ledger }, index) => ledger.map((row) => ({ ...row, offset: row.offset + index * 100 }))),
      effects: all.flatMap(({ effects = [] }) => effects), views: all.flatMap(({ views = [] }) => views), faults: all.flatMap(({ faults = [] }) => faults),
    });
    expect(report.uncovered).toEqual([]);
    expect(exitOf({ ...report, violations: [] }, true)).toBe(0);
  });
});
