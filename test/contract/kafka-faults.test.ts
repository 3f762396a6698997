/** What brokers and networks do to a ledger, on brokers of the tests' own. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { openKafkaLedger } from "@loopledger/shared/kafka";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import type { Ledger, LogEntry, Subscription } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, describe, expect, it } from "vitest";
import { type OwnKafka, ownKafka } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { type LedgerTopic, ledgerSettings, makeLedgerTopic } from "./kafka-topic.ts";

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
}, 300_000);

async function startKafka(options: Parameters<typeof ownKafka>[0]): Promise<OwnKafka> {
  const kafka = await ownKafka(options);
  endings.push(() => kafka.stop());
  return kafka;
}

async function startTopic(brokers: string, partitions = 4): Promise<LedgerTopic> {
  const topic = await makeLedgerTopic({ brokers, partitions });
  endings.push(() => topic.close());
  return topic;
}

async function readAll(ledger: Ledger): Promise<readonly LogEntry[]> {
  const all = await Promise.all(Array.from({ length: ledger.partitions }, (_, partition) => ledger.read(partition, 0 as Offset, 1_000_000)));
  return all.flat().filter(({ key }) => key.startsWith("w"));
}

/** Collects what a subscription from the start hands on. */
async function follow(ledger: Ledger): Promise<{ readonly seen: LogEntry[]; readonly subscription: Subscription }> {
  const seen: LogEntry[] = [];
  const from = new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, 0 as Offset]));
  const subscription = await ledger.subscribe(from, (entries) => void seen.push(...entries.filter(({ key }) => key.startsWith("w"))));
  return { seen, subscription };
}

/** Writers that append pairs, one after the other each, until they are told to stop. */
function startWriters(ledger: Ledger, count: number) {
  const acked: string[] = [];
  let isStopping = false;
  const writers = Array.from({ length: count }, async (_, writer) => {
    for (let number = 0; !isStopping; number++) {
      await ledger.append(`w${writer}` as SessionId, [`${number}/1`, `${number}/2`]);
      acked.push(`w${writer} ${number}`);
    }
  });
  const over = Promise.all(writers);
  return {
    acked,
    stop: async (): Promise<void> => {
      isStopping = true;
      await over;
    },
  };
}

/** Every acknowledged pair is there, whole; a session's pairs are in order but for whole repeats. */
function expectComplete(entries: readonly LogEntry[], acked: readonly string[]): void {
  const sessions = Map.groupBy(entries, ({ key }) => key);
  const found = new Set<string>();
  for (const [key, own] of sessions) {
    let newest = -1;
    for (let i = 0; i < own.length; i += 2) {
      const [number, part] = (own[i]?.value ?? "").split("/").map(Number);
      expect([part, own[i + 1]?.value, own[i + 1]?.offset]).toEqual([1, `${number}/2`, (own[i]?.offset ?? 0) + 1]);
      expect(number).toBeLessThanOrEqual(newest + 1);
      newest = Math.max(newest, number ?? 0);
      found.add(`${key} ${number}`);
    }
  }
  expect(acked.filter((one) => !found.has(one))).toEqual([]);
}

const tooFewCopies = (code: string): unknown => expect.objectContaining({ code: "ledger_unreachable", message: expect.stringContaining(code), next: expect.stringContaining("min.insync.replicas") });

/** Sets the ledger's topic, beside what every ledger has. */
async function administer({ brokers, name }: LedgerTopic, settings: Readonly<Record<string, string>>): Promise<void> {
  const admin = await openKafkaAdmin({ brokers });
  await admin.configure(name, { ...ledgerSettings, ...settings });
  await admin.close();
}

describe("a ledger on Kafka whose brokers fail", () => {
  it("acknowledges nothing that is not written, while one of three brokers is killed under 96 concurrent sends", async () => {
    const kafka = await startKafka({ brokers: 3 });
    const topic = await startTopic(kafka.brokers, 12);
    const ledger = await topic.open();
    const { seen, subscription } = await follow(ledger);
    const writers = startWriters(ledger, 96);
    const more = async (count: number): Promise<unknown> => {
      const before = writers.acked.length;
      return until(() => writers.acked.length > before + count, { what: "more acknowledged appends", timeoutMs: 120_000 });
    };
    await more(1_000);
    await kafka.kill(2);
    await more(1_000);
    await writers.stop();
    await subscription.caughtUp();
    expectComplete(await readAll(await topic.open()), writers.acked);
    expectComplete(seen, writers.acked);
    expect(new Set(seen.map(({ partition, offset }) => `${partition}/${offset}`)).size).toBe(seen.length);
  }, 300_000);

  it.each(["swallow", "cutAfter"] as const)("sends the same bytes again where the answer to a send is lost (%s), and is done once", async (fault) => {
    const kafka = await startKafka({ proxied: true });
    const topic = await startTopic(kafka.proxiedBrokers);
    const ledger = await topic.open();
    const { seen, subscription } = await follow(ledger);
    const proxy = kafka.proxies[0];
    if (proxy === undefined) throw new Error("There is no proxy.");
    const met = proxy[fault]("Produce");
    await ledger.append("w0" as SessionId, ["a", "b"]);
    await met;
    await ledger.append("w0" as SessionId, ["c"]);
    await subscription.caughtUp();
    expect(seen.map(({ value }) => value)).toEqual(["a", "b", "a", "b", "c"]);
    expect((await ledger.readSession("w0" as SessionId)).map(({ value }) => value)).toEqual(["a", "b", "a", "b", "c"]);
  }, 300_000);

  it("F34 sends the same bytes again where a broker says only after it has written them that too few copies are in step, and says what mends it", async () => {
    const kafka = await startKafka({ proxied: true });
    const topic = await startTopic(kafka.proxiedBrokers);
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const { seen, subscription } = await follow(ledger);
    const met = kafka.proxies[0]?.belie(20, 2);
    await ledger.append("w0" as SessionId, ["a", "b"]);
    await met;
    await ledger.append("w0" as SessionId, ["c"]);
    await subscription.caughtUp();
    expect(seen.map(({ value }) => value)).toEqual(["a", "b", "a", "b", "a", "b", "c"]);
    expect(told).toEqual([tooFewCopies("NOT_ENOUGH_REPLICAS_AFTER_APPEND")]);
  }, 300_000);

  it("F34 acknowledges nothing while fewer brokers than its topic demands have its records, loses nothing, and goes on when that is mended", async () => {
    const kafka = await startKafka({ brokers: 3 });
    const topic = await makeLedgerTopic({ brokers: kafka.brokers, partitions: 1, settings: { "min.insync.replicas": "3" } });
    endings.push(() => topic.close());
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const { seen, subscription } = await follow(ledger);
    const writers = startWriters(ledger, 12);
    await until(() => writers.acked.length > 200, { what: "acknowledged appends", timeoutMs: 120_000 });
    await kafka.kill(2);
    const isTold = (): boolean => told.some((error) => (error as Error).message.includes("NOT_ENOUGH_REPLICAS"));
    await until(isTold, { what: "the missing copies to be told", timeoutMs: 120_000 });
    expect(told).toContainEqual(tooFewCopies("NOT_ENOUGH_REPLICAS"));
    const before = writers.acked.length;
    const since = performance.now();
    await until(() => performance.now() - since > 6_000, { what: "six seconds of it", timeoutMs: 60_000 });
    expect(writers.acked).toHaveLength(before);
    // What reads go on meanwhile end no outage of those who write.
    expect(told.length).toBeLessThan(5);
    await administer(topic, { "min.insync.replicas": "2" });
    await until(() => writers.acked.length > before + 200, { what: "appends with the copies that are left", timeoutMs: 120_000 });
    await writers.stop();
    await subscription.caughtUp();
    expectComplete(await readAll(await topic.open()), writers.acked);
    expectComplete(seen, writers.acked);
  }, 300_000);

  it("goes on by itself when its only broker is killed and comes back, with every acknowledged record and each entry once", async () => {
    const kafka = await startKafka({});
    const topic = await startTopic(kafka.brokers);
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const { seen, subscription } = await follow(ledger);
    const writers = startWriters(ledger, 12);
    await until(() => writers.acked.length > 200, { what: "acknowledged appends", timeoutMs: 120_000 });
    await kafka.kill();
    await until(() => told.length > 0, { what: "the outage to be told", timeoutMs: 120_000 });
    await kafka.restart();
    const before = writers.acked.length;
    await until(() => writers.acked.length > before + 200, { what: "appends after the restart", timeoutMs: 120_000 });
    await writers.stop();
    await subscription.caughtUp();
    expectComplete(await readAll(ledger), writers.acked);
    expectComplete(seen, writers.acked);
    expect(new Set(seen.map(({ partition, offset }) => `${partition}/${offset}`)).size).toBe(seen.length);
    // Told when it begins, and not at each of the many tries; a broker that comes up slowly may be away once more.
    expect(new Set(told.map((error) => (error as { code: string }).code))).toEqual(new Set(["ledger_unreachable"]));
    expect(told.length).toBeLessThan(5);
  }, 300_000);

  it("tells an outage once where one of three brokers stays away that alone has some of the partitions", async () => {
    const kafka = await startKafka({ brokers: 3 });
    const name = "alone.ledger";
    const admin = await openKafkaAdmin({ brokers: kafka.brokers.split(",") });
    await admin.create([{ name, partitions: 6, replication: 1, config: ledgerSettings }]);
    await admin.close();
    const told: unknown[] = [];
    const ledger = await openKafkaLedger({ connection: { brokers: kafka.brokers.split(",") }, prefix: "alone", clock: createSystemClock(), ids: createSystemIds(), log: (error) => void told.push(error) });
    endings.push(() => ledger.close());
    await (await follow(ledger)).subscription.caughtUp();
    await kafka.kill(2);
    await until(() => told.length > 0, { what: "the outage to be told", timeoutMs: 120_000 });
    // The others answer some twelve times meanwhile: polls that find nothing.
    const since = performance.now();
    await until(() => performance.now() - since > 6_000, { what: "six seconds of the outage", timeoutMs: 60_000 });
    expect(told.length).toBeLessThan(4);
  }, 300_000);

  it("waits for a broker that stands still, and takes a reader and a writer on from where they were", async () => {
    const kafka = await startKafka({});
    const topic = await startTopic(kafka.brokers);
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const { seen, subscription } = await follow(ledger);
    await ledger.append("w0" as SessionId, ["before"]);
    await subscription.caughtUp();
    kafka.pause();
    const pending = ledger.append("w0" as SessionId, ["meanwhile"]);
    await until(() => told.length > 0, { what: "the broker's silence to be told", timeoutMs: 120_000 });
    kafka.resume();
    await pending;
    await subscription.caughtUp();
    expect([...new Set(seen.map(({ value }) => value))]).toEqual(["before", "meanwhile"]);
  }, 300_000);

  it("is closed at once while no broker answers, and says of what was pending that it was not acknowledged", async () => {
    const kafka = await startKafka({});
    const topic = await startTopic(kafka.brokers);
    const ledger = await topic.open();
    const { subscription } = await follow(ledger);
    await kafka.kill();
    const pending = ledger.append("w0" as SessionId, ["lost"]).catch((error: { code: string }) => error.code);
    const waiting = subscription.caughtUp().catch((error: { code: string }) => error.code);
    await ledger.close();
    expect(await pending).toBe("ledger_unreachable");
    expect(await waiting).toBe("ledger_closed");
  }, 300_000);
});
