/** What other producers write in transactions: it counts when it is made good, and as if it had never been where it is taken back. */
import { openKafkaInbox, openTopicReader, type TopicGap, type TopicRecord } from "@loopledger/shared/kafka";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Clock, Ledger, LogEntry, Subscription } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, describe, expect, it } from "vitest";
import { makeTopics } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { type LedgerTopic, makeLedgerTopic } from "./kafka-topic.ts";
import { openTransactionalProducer, type TransactionalProducer } from "./transactions.ts";

/** How often an intake looks whether it is held up: here at once. */
const lookMs = 5_000;
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
}, 120_000);

async function startTopic(): Promise<LedgerTopic> {
  const topic = await makeLedgerTopic({ partitions: 1 });
  endings.push(() => topic.close());
  return topic;
}
async function producer({ brokers, name: ledger }: LedgerTopic, name: string, topic = ledger): Promise<TransactionalProducer> {
  const opened = await openTransactionalProducer({ brokers, topic, name });
  endings.push(() => opened.close());
  return opened;
}
const valuesOf = (entries: readonly LogEntry[]): (string | null)[] => entries.filter(({ key }) => !key.startsWith("_ledger/")).map(({ value }) => value);
async function follow(ledger: Ledger): Promise<{ readonly seen: LogEntry[]; readonly subscription: Subscription }> {
  const seen: LogEntry[] = [];
  return { seen, subscription: await ledger.subscribe(new Map([[0, 0 as Offset]]), (entries) => void seen.push(...entries)) };
}

/**
 * Two transactions that lie inside each other, the one that began first taken back last, with an own append in their midst; one that is made
 * good; and one more that is taken back by a producer that had another taken back before. The last thing in the partition is a marker.
 */
async function writeAll(topic: LedgerTopic, own: () => Promise<void>): Promise<{ readonly takenBack: readonly number[] }> {
  const [first, second] = await Promise.all([producer(topic, "first"), producer(topic, "second")]);
  const outer = await first.begin();
  const takenBack = [await outer.write({ key: "w1", value: "outer" })];
  const inner = await second.begin();
  takenBack.push(await inner.write({ key: "w2", value: "inner" }), await outer.write({ key: Buffer.alloc(4), value: "outer, with a key like a marker's" }));
  await inner.takeBack();
  await own();
  takenBack.push(await outer.write({ key: "w1", value: "outer again" }));
  await outer.takeBack();
  const good = await second.begin();
  await good.write({ key: "w1", value: "good" });
  await good.write({ key: "w2", value: "good too" });
  await good.makeGood();
  const last = await first.begin();
  takenBack.push(await last.write({ key: "w1", value: "last" }));
  await last.takeBack();
  return { takenBack };
}

describe("F47 what transactions of others wrote", () => {
  it("is seen by every reader of the ledger alike: not where it was taken back, and a marker at the very end holds up nobody", async () => {
    const topic = await startTopic();
    const ledger = await topic.open();
    const { seen, subscription } = await follow(ledger);
    await ledger.append("w0" as SessionId, ["before"]);
    const { takenBack } = await writeAll(topic, () => ledger.append("w0" as SessionId, ["amid"]));
    expect(new Set(takenBack).size).toBe(5);
    await subscription.caughtUp();
    const all = ["before", "amid", "good", "good too"];
    expect(valuesOf(seen)).toEqual(all);
    const fresh = await topic.open();
    const end = (await fresh.end()).get(0) ?? 0;
    // The record that was taken back last, its marker, and nothing more.
    expect(end).toBe((takenBack.at(-1) ?? 0) + 2);
    for (const one of [ledger, fresh]) {
      expect(await one.end()).toEqual(new Map([[0, end]]));
      for (let from = 0; from <= end; from++) expect(await one.read(0, from as Offset, 1_000)).toEqual(seen.filter(({ offset }) => offset >= from));
      expect(valuesOf(await one.readSession("w1" as SessionId))).toEqual(["good"]);
      expect(valuesOf(await one.readSession("w2" as SessionId, takenBack[1] as Offset))).toEqual(["good too"]);
      expect(valuesOf(await one.readSession("w0" as SessionId))).toEqual(["before", "amid"]);
    }
    const late = await follow(fresh);
    await late.subscription.caughtUp();
    expect(late.seen).toEqual(seen);
    await fresh.append("w2" as SessionId, ["after"]);
    await Promise.all([subscription.caughtUp(), late.subscription.caughtUp()]);
    expect(seen.at(-1)).toMatchObject({ value: "after", offset: end });
    expect(late.seen).toEqual(seen);
  }, 120_000);

  it("holds back what lies behind it until it is over, also where its producer has died; whoever appended there waits for it", async () => {
    const topic = await startTopic();
    const ledger = await topic.open();
    const other = await topic.open();
    const { seen, subscription } = await follow(ledger);
    await ledger.append("w0" as SessionId, ["before"]);
    await subscription.caughtUp();
    const open = await (await producer(topic, "dying")).begin();
    const at = await open.write({ key: "w0", value: "open" });
    await ledger.append("w0" as SessionId, ["behind"]);
    let isThere = false;
    const there = subscription.caughtUp().then(() => {
      isThere = true;
    });
    const own = ledger.readSession("w0" as SessionId);
    expect(await other.end()).toEqual(new Map([[0, at]]));
    expect(valuesOf(await other.readSession("w0" as SessionId))).toEqual(["before"]);
    expect(valuesOf(await other.read(0, 0 as Offset, 1_000))).toEqual(["before"]);
    expect(isThere).toBe(false);
    expect(valuesOf(seen)).toEqual(["before"]);
    const successor = await (await producer(topic, "dying")).begin();
    await there;
    expect(valuesOf(seen)).toEqual(["before", "behind"]);
    expect(valuesOf(await own)).toEqual(["before", "behind"]);
    expect(valuesOf(await other.readSession("w0" as SessionId))).toEqual(["before", "behind"]);
    await successor.takeBack();
  }, 120_000);

  it("is told by whoever follows the ledger and whoever reads goals where it stays open, and passes as soon as it is over", async () => {
    const topic = await startTopic();
    const system = createSystemClock();
    let aheadMs = 0;
    const clock: Clock = { ...system, monotonic: () => system.monotonic() + aheadMs, after: (delayMs, call) => system.after(delayMs === lookMs ? 10 : delayMs, call) };
    const told: Record<"ledger" | "goals", unknown[]> = { ledger: [], goals: [] };
    const ledger = await topic.open({ clock, log: (error) => void told.ledger.push(error) });
    const { seen, subscription } = await follow(ledger);
    const inbox = openKafkaInbox({ connection: { brokers: topic.brokers }, prefix: topic.prefix, clock, ids: createSystemIds() });
    await makeTopics(topic.prefix, { partitions: 1 });
    endings.push(() => inbox.close());
    const goals: string[] = [];
    await inbox.read({
      handle: async (records) => void goals.push(...records.map(({ value }) => Buffer.from(value ?? []).toString())), gap: () => undefined, troubled: (error) => void told.goals.push(error),
    });
    const [onLedger, onGoals] = [await (await producer(topic, "ledger")).begin(), await (await producer(topic, "goals", inbox.topic)).begin()];
    const at = { ledger: await onLedger.write({ key: "w0", value: "open" }), goals: await onGoals.write({ key: "w0", value: "open" }) };
    await until(() => {
      aheadMs += 1_000;
      return told.ledger.length > 0 && told.goals.length > 0;
    }, { what: "both to be told", timeoutMs: 60_000 });
    for (const [role, name] of [["ledger", topic.name], ["goals", inbox.topic]] as const) {
      expect(told[role]).toEqual([expect.objectContaining({
        message: expect.stringContaining(`Partition 0 of ${name} is held up at offset ${at[role]}`), next: expect.stringContaining(`abort --topic ${name} --partition 0 --start-offset ${at[role]}`),
      })]);
    }
    await Promise.all([onLedger.takeBack(), onGoals.makeGood()]);
    await ledger.append("w0" as SessionId, ["behind"]);
    await subscription.caughtUp();
    await until(() => goals.length > 0, { what: "the goal", timeoutMs: 60_000 });
    expect([valuesOf(seen), goals]).toEqual([["behind"], ["open"]]);
  }, 120_000);

  it("is handed to a member of a group where it was made good, whichever transactions were taken back around it", async () => {
    const topic = await startTopic();
    await writeAll(topic, async () => undefined);
    const got: TopicRecord[] = [];
    const gaps: TopicGap[] = [];
    const reader = await openTopicReader({
      connection: { brokers: topic.brokers }, topic: topic.name, group: `${topic.prefix}.group`, gap: (gap) => void gaps.push(gap),
      handle: async (records) => void got.push(...records), log: () => undefined,
    });
    endings.push(() => reader.close());
    await until(() => got.some(({ value }) => Buffer.from(value ?? []).toString() === "good too"), { what: "what was made good", timeoutMs: 60_000 });
    expect(got.map(({ value }) => Buffer.from(value ?? []).toString())).toEqual(["good", "good too"]);
    expect(gaps).toEqual([]);
  }, 120_000);
});
