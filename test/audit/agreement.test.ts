import { describe, expect, it } from "vitest";
import { audit } from "@loopledger/audit";
import { randomOf } from "@loopledger/shared/testing";
import { plantedLogs, turnedLogs, walkedLogs } from "./corpus.ts";
import { aboutFolds, realFold, saidBy } from "./folds.ts";
import { readHistories } from "../replay/history.ts";

describe("the audit's fold and the product's", () => {
  it("agree on every verdict and on every view after every entry, on hostile and on well-meant logs", () => {
    const logs = [...walkedLogs(45), ...turnedLogs(), ...plantedLogs()];
    const reasons = new Set<string>();
    for (const log of logs) {
      const report = audit(saidBy(realFold, log, true));
      expect(aboutFolds(report.violations)).toEqual([]);
      for (const reason of Object.keys(report.counts.void)) reasons.add(reason);
    }
    expect([...reasons].sort()).toEqual([
      "after_end", "duplicate", "forbidden", "gap", "key_conflict", "malformed", "not_armed", "not_owed", "rival", "stale_epoch", "suspended", "wrong_cycle",
    ]);
  });

  it("agree on the recorded histories of every release", () => {
    for (const { entries, expected } of readHistories()) {
      const ledger = entries.map(({ partition, offset, time, key, text }) => ({ partition, offset, time, key, text, value: text }));
      const verdicts = expected.verdicts.map((word: string, index: number) => {
        const reason = /^void\((.*)\)$/.exec(word)?.[1] ?? null;
        return { partition: ledger[index]?.partition ?? 0, offset: ledger[index]?.offset ?? 0, verdict: (reason === null ? word : "void") as "void", reason: reason as "gap" | null };
      });
      const status = JSON.parse(JSON.stringify(expected.status)) as Record<string, unknown>;
      const report = audit({ ledger, verdicts, views: [{ kind: "view", sessionId: expected.sessionId, status }] });
      expect(report.violations).toEqual([]);
      expect(report.counts.accepted).toBeGreaterThan(20);
    }
  });

  it("do not depend on the order in which partitions and sessions are dumped", () => {
    const [log = []] = walkedLogs(1);
    const random = randomOf(5);
    const apart = log.map((row) => ({ ...row, key: "session-1" }));
    const shuffled = [...apart].sort(() => random.next() - 0.5);
    expect(audit({ ledger: shuffled }).counts).toEqual(audit({ ledger: apart }).counts);
  });
});
