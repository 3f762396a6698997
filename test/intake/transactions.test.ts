/** Producers that write in transactions, as an outbox relay does: what they take back becomes nothing, to nobody who reads. */
import { startProjector } from "@loopledger/projector/projector";
import type { SessionId } from "@loopledger/shared/core/brand";
import { boundsOf, goal } from "@loopledger/shared/core/events/goal";
import { goalDigest } from "@loopledger/shared/core/session/rules/submission";
import { rulesKnown } from "@loopledger/shared/core/session/state";
import { type Engine, figuresText } from "@loopledger/shared/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openTransactionalProducer, type TransactionalProducer } from "../contract/transactions.ts";
import { documents } from "../projector/views.ts";
import { goalText, Stage } from "./stage.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

let stage: Stage;
const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  await stage.close();
});
async function producer(role: "goals" | "ledger", name: string): Promise<TransactionalProducer> {
  const opened = await openTransactionalProducer({ brokers: stage.connection.brokers, topic: `${stage.prefix}.${role}`, name });
  endings.push(opened.close);
  return opened;
}
/** A record by which a session begins, as the intake would write it. */
function submissionOf({ author, ids }: Engine, id: string): { readonly key: string; readonly value: string } {
  const parsed = goal.parse({ goal: "Mend it", maker: "m", check: "c" });
  const data = { goal: parsed, digest: goalDigest(parsed, { sha256: ids.sha256 }), bounds: boundsOf(parsed), rules: rulesKnown };
  return { key: id, value: author.write(id as SessionId, { type: "goal_submitted", data, actor: { kind: "intake", id: "elsewhere" } }).text };
}

describe("F47 goals and records that a producer writes in transactions", () => {
  test("become sessions and dead letters where they are made good, and nothing where they are taken back, whoever reads", async () => {
    stage = await Stage.make();
    const { engine, intake } = await stage.intake({}, (one) => one, { views: true });
    const projector = await startProjector(engine, { batchMs: 2 });
    endings.push(() => projector.stop());

    const [first, second, onLedger] = await Promise.all([producer("goals", "first"), producer("goals", "second"), producer("ledger", "third")]);
    const outer = await first.begin();
    await outer.write({ key: "never-1", value: goalText() });
    const inner = await second.begin();
    await inner.write({ key: "never-2", value: goalText() });
    await inner.write({ key: "bad-never", value: "no goal" });
    await inner.takeBack();
    await stage.put({ key: "plain", value: goalText() });
    await outer.write({ key: "never-3", value: goalText() });
    await outer.takeBack();
    const good = await second.begin();
    await good.write({ key: "good", value: goalText() });
    await good.write({ key: "bad", value: "no goal" });
    await good.makeGood();
    const forged = await onLedger.begin();
    const at = await forged.write(submissionOf(engine, "never-4"));
    await forged.takeBack();
    const brought = await onLedger.begin();
    await brought.write(submissionOf(engine, "brought"));
    await brought.makeGood();
    const last = await first.begin();
    await last.write({ key: "never-5", value: goalText() });
    await last.takeBack();
    const lastOnLedger = await onLedger.begin();
    const end = await lastOnLedger.write(submissionOf(engine, "never-6"));
    await lastOnLedger.takeBack();

    const expected = ["brought", "good", "plain"];
    await stage.waitFor("the goals that stand", async () => (await stage.sessions()).length >= expected.length);
    await stage.waitFor("the letter that stands", async () => (await stage.letters()).length > 0);
    expect(await stage.sessions()).toEqual(expected);
    expect((await stage.letters()).map(({ key }) => Buffer.from(key ?? []).toString())).toEqual(["bad"]);
    expect(end).toBeGreaterThan(at);
    // Everybody stands behind the marker at the very end.
    await engine.folds.caughtUp();
    await projector.caughtUp();
    expect([...(await documents(engine.views as NonNullable<typeof engine.views>)).keys()].sort()).toEqual(expected);
    expect([await engine.folds.open("never-4" as SessionId), await engine.folds.open("brought" as SessionId)].map(({ submission }) => submission !== null)).toEqual([false, true]);
    expect(figuresText(intake.figures())).toContain("loopledger_intake_goals_total 2\n");

    const [dump, list, audit, status] = await Promise.all([stage.run("ledger", "dump"), stage.run("ls", "--json"), stage.run("audit", "--json"), stage.run("status", "never-1")]);
    const rows = dump.out.trim().split("\n").map((line) => JSON.parse(line) as { readonly key: string; readonly offset: number });
    expect([...new Set(rows.map(({ key }) => key).filter((key) => !key.startsWith("_ledger/")))].sort()).toEqual(expected);
    for (const id of expected) expect(list.out).toContain(id);
    expect([dump, list, audit].map(({ code, out }) => [code, out.includes("never-")])).toEqual([[0, false], [0, false], [0, false]]);
    expect(status.code).toBe(2);
    // What comes next goes on behind the markers.
    await stage.put({ key: "after", value: goalText() });
    await stage.waitFor("a goal behind the markers", async () => (await stage.sessions()).includes("after"));
  });
});
