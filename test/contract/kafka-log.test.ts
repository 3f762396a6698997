/** What can be the matter with a topic, and how its records look to others. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { ledgerKey, partitionOf } from "@loopledger/shared/core/placement";
import { connectKafka } from "@loopledger/shared/kafka";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { makeLedgerTopic, type LedgerTopic, type LedgerTopicOptions } from "./kafka-topic.ts";

const session = "s1" as SessionId;
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function startTopic(options: LedgerTopicOptions = {}): Promise<LedgerTopic> {
  const topic = await makeLedgerTopic(options);
  endings.push(() => topic.close());
  return topic;
}

type Foreign = Parameters<ReturnType<ReturnType<typeof connectKafka>["producer"]>["send"]>[0];

/** A producer that knows nothing of ledgers. */
async function sendForeign(topic: LedgerTopic, messages: Foreign["messages"], compression: NonNullable<Foreign["compression"]> = 0): Promise<void> {
  const producer = connectKafka({ brokers: topic.brokers }).producer({ createPartitioner: () => () => 0 });
  await producer.connect();
  await producer.send({ topic: topic.name, acks: -1, compression, messages });
  await producer.disconnect();
}

async function removeRecords(topic: LedgerTopic, partition: number, before: number): Promise<void> {
  const admin = connectKafka({ brokers: topic.brokers }).admin();
  await admin.connect();
  // The client deletes only where it has asked for the topic before.
  await admin.fetchTopicOffsets(topic.name);
  await admin.deleteTopicRecords({ topic: topic.name, partitions: [{ partition, offset: String(before) }] });
  await admin.disconnect();
}

async function follow(ledger: Ledger): Promise<{ readonly seen: LogEntry[]; caughtUp(): Promise<void> }> {
  const seen: LogEntry[] = [];
  const from = new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, 0 as Offset]));
  const subscription = await ledger.subscribe(from, (entries) => void seen.push(...entries));
  return { seen, caughtUp: () => subscription.caughtUp() };
}

describe("the beginning of a ledger on Kafka", () => {
  it("is the same for all processes that start it at once", async () => {
    const topic = await startTopic();
    const ledgers = await Promise.all(Array.from({ length: 6 }, () => topic.open()));
    const ids = new Set(ledgers.map(({ ledgerId }) => ledgerId));
    expect(ids.size).toBe(1);
    const [first] = await (ledgers[0] as Ledger).read(0, 0 as Offset, 1);
    expect(JSON.parse(first?.value ?? "")).toMatchObject({ ledgerId: [...ids][0], type: "ledger_initialised" });
    expect((await topic.open()).ledgerId).toBe([...ids][0]);
  });

  it("stands behind what strangers wrote before it", async () => {
    const topic = await startTopic();
    await sendForeign(topic, [{ key: ledgerKey(0), value: "{}" }, { key: null, value: null }, { key: "x", value: "y" }]);
    const ledger = await topic.open();
    const entries = await ledger.read(0, 0 as Offset, 10);
    expect(entries.map(({ key, value }) => [key, value?.slice(0, 6)])).toEqual([[ledgerKey(0), "{}"], ["", undefined], ["x", "y"], [ledgerKey(0), '{"v":1']]);
    expect((await topic.open()).ledgerId).toBe(ledger.ledgerId);
  });

  it("is refused with another number of partitions than it was begun with", async () => {
    const topic = await startTopic();
    const ledger = await topic.open();
    const [first] = await ledger.read(0, 0 as Offset, 1);
    await ledger.close();
    await topic.remove();
    await topic.make(3);
    await sendForeign(topic, [{ key: first?.key ?? "", value: first?.value ?? "" }]);
    await expect(topic.open()).rejects.toMatchObject({ code: "ledger_mismatch", then: "stop" });
  });

  it("is never made together with the topic: a missing one is told with the command that makes it", async () => {
    const topic = await startTopic();
    await expect(topic.open({ prefix: `${topic.prefix}-missing` })).rejects.toMatchObject({
      code: "ledger_unreachable", next: expect.stringContaining("loopledger topics apply"),
    });
  });

  it("is told to be unreachable where no broker listens", async () => {
    const topic = await startTopic();
    await expect(topic.open({ connection: { brokers: ["127.0.0.1:1"], patience: "none" } })).rejects.toMatchObject({ code: "ledger_unreachable", then: "retry" });
  });
});

describe("a ledger on Kafka that loses records", () => {
  it("is noticed by a subscriber when its topic is deleted and made anew, and takes nothing any more", async () => {
    const topic = await startTopic();
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const { seen, caughtUp } = await follow(ledger);
    await ledger.append(session, ["1", "2"]);
    await caughtUp();
    await topic.remove();
    await topic.make();
    const other = await topic.open();
    expect(other.ledgerId).not.toBe(ledger.ledgerId);
    for (const value of ["a", "b", "c", "d"]) await other.append(session, [value]);
    await expect(caughtUp()).rejects.toMatchObject({ code: "ledger_lost", then: "stop" });
    await expect(ledger.append(session, ["3"])).rejects.toMatchObject({ code: "ledger_lost" });
    await expect(ledger.end()).rejects.toMatchObject({ code: "ledger_lost" });
    expect(told.at(-1)).toMatchObject({ code: "ledger_lost" });
    expect(seen.map(({ value }) => value)).not.toContain("a");
  });

  it("is noticed by whoever asks for its end, and by a writer that reads nothing", async () => {
    const topic = await startTopic();
    const [reader, writer] = [await topic.open(), await topic.open()];
    await topic.remove();
    await topic.make();
    await topic.open();
    await expect(reader.end()).rejects.toMatchObject({ code: "ledger_lost" });
    const other = await startTopic();
    const apart = await other.open();
    await apart.append(session, ["1", "2"]);
    await apart.readSession(session);
    await other.remove();
    await other.make();
    await expect(apart.append(session, ["3"])).rejects.toMatchObject({ code: "ledger_lost" });
    await writer.close();
  });

  it("is told to be lost when its topic is gone for good", async () => {
    const topic = await startTopic();
    const ledger = await topic.open();
    const { caughtUp } = await follow(ledger);
    await caughtUp();
    await topic.remove();
    const refusal = (): Promise<unknown> => caughtUp().then(() => null, (error: unknown) => error);
    expect(await until(refusal, { what: "the deletion to reach the broker", timeoutMs: 60_000 })).toMatchObject({ code: "ledger_lost" });
  });

  it("never jumps over what retention has removed", async () => {
    const topic = await startTopic({ partitions: 1 });
    const ledger = await topic.open();
    for (let i = 0; i < 5; i++) await ledger.append(session, [`${i}`]);
    await removeRecords(topic, 0, 3);
    await expect(ledger.readSession(session)).rejects.toMatchObject({ code: "ledger_lost" });
    await expect(ledger.read(0, 0 as Offset, 10)).rejects.toMatchObject({ code: "ledger_lost" });
    await expect(ledger.subscribe(new Map([[0, 0 as Offset]]), () => undefined)).rejects.toMatchObject({ code: "ledger_lost" });
    expect((await ledger.read(0, 3 as Offset, 10)).map(({ value }) => value)).toEqual(["2", "3", "4"]);
  });
});

describe("a reader of a ledger on Kafka", () => {
  it("is handed the same entries again where it threw, before any later one", async () => {
    const topic = await startTopic({ partitions: 1 });
    const told: unknown[] = [];
    const ledger = await topic.open({ log: (error) => void told.push(error) });
    const handed: string[] = [];
    let faults = 2;
    const subscription = await ledger.subscribe(await ledger.end(), (entries) => {
      handed.push(entries[0]?.value ?? "");
      if (faults-- > 0) throw new Error("The listener is not ready.");
    });
    await ledger.append(session, ["1"]);
    await ledger.append(session, ["2"]);
    await subscription.caughtUp();
    expect(handed.slice(0, 3)).toEqual(["1", "1", "1"]);
    expect(told).toMatchObject([{ message: "The listener is not ready." }, { message: "The listener is not ready." }]);
  });
});

describe("a reader of a ledger on Kafka that begins in the midst of what was written together", () => {
  it("is handed nothing that stands before its position", async () => {
    const topic = await startTopic({ partitions: 1 });
    const ledger = await topic.open();
    await ledger.append(session, ["1", "2", "3", "4"]);
    const third = ((await ledger.readSession(session))[2]?.offset ?? 0) as Offset;
    const seen: LogEntry[] = [];
    const subscription = await ledger.subscribe(new Map([[0, third]]), (entries) => void seen.push(...entries));
    await subscription.caughtUp();
    await ledger.append(session, ["5"]);
    await subscription.caughtUp();
    expect(seen.map(({ value }) => value)).toEqual(["3", "4", "5"]);
    expect((await ledger.read(0, third, 10)).map(({ value }) => value)).toEqual(["3", "4", "5"]);
  });
});

describe("records on the ledger's topic", () => {
  const sizes = { "max.message.bytes": "20000" };

  it("name their type and their ledger in headers, and lie where every client looks for the key", async () => {
    const topic = await startTopic();
    const ledger = await topic.open();
    const envelope = { v: 1, ledgerId: ledger.ledgerId, eventId: "e1", sessionId: session, type: "guidance", typeVersion: 1 };
    await ledger.append(session, [JSON.stringify(envelope), JSON.stringify({ note: '"type":"x"', type: "built" }), "no json"]);
    const consumer = connectKafka({ brokers: topic.brokers }).consumer({ groupId: `${topic.prefix}.reader` });
    await consumer.connect();
    await consumer.subscribe({ topic: topic.name, fromBeginning: true });
    const found: (readonly [number, string | undefined, string | undefined])[] = [];
    await new Promise<void>((done, failed) => {
      consumer.run({
        eachMessage: async ({ partition, message }) => {
          if (message.key?.toString() !== session) return;
          found.push([partition, message.headers?.["type"]?.toString(), message.headers?.["ledger-id"]?.toString()]);
          if (found.length === 3) done();
        },
      }).catch(failed);
    });
    await consumer.disconnect();
    const home = partitionOf(session, 4);
    expect(found).toEqual([[home, "guidance", ledger.ledgerId], [home, "built", ledger.ledgerId], [home, undefined, ledger.ledgerId]]);
  });

  it("are refused where those of one append are too large, and go one by one where only several appends together are", async () => {
    const topic = await startTopic({ partitions: 1, settings: sizes });
    const ledger = await topic.open();
    await expect(ledger.append(session, ["x".repeat(30_000)])).rejects.toMatchObject({ code: "batch_too_large", then: "stop" });
    const values = Array.from({ length: 12 }, (_, i) => `${i}${"y".repeat(9_000)}`);
    await Promise.all(values.map((value) => ledger.append(session, [value])));
    expect((await ledger.readSession(session)).map(({ value }) => value)).toEqual(values);
  });

  it("are no text where their bytes are none, and come out of a registry's frame", async () => {
    const topic = await startTopic({ partitions: 1 });
    const ledger = await topic.open();
    const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.from('{"a":1}')]);
    await sendForeign(topic, [{ key: "k", value: Buffer.from([0xff, 0xfe, 0x41]) }, { key: "k", value: null }, { key: "k", value: framed }]);
    const { seen, caughtUp } = await follow(ledger);
    await caughtUp();
    expect(seen.slice(1).map(({ value }) => value)).toEqual([null, null, '{"a":1}']);
    expect(await ledger.readSession("k" as SessionId)).toEqual(seen.slice(1));
  });

  it("are put into the registry's form in the order of the calls, however long each takes", async () => {
    const topic = await startTopic();
    const releases: (() => void)[] = [];
    const asked: string[] = [];
    const ledger = await topic.open({
      schemas: {
        encode: async (name, text) => {
          asked.push(name);
          if (text === "slow") await new Promise<void>((done) => releases.push(done));
          return Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), Buffer.from(text)]);
        },
        decode: async () => null,
      },
    });
    const appends = [ledger.append(session, ["slow"]), ledger.append(session, ["quick"])];
    for (const release of releases) release();
    await Promise.all(appends);
    expect((await ledger.readSession(session)).map(({ value }) => value)).toEqual(["slow", "quick"]);
    expect(new Set(asked)).toEqual(new Set([topic.name]));
  });

  it.each(["gzip", "snappy", "lz4", "zstd"])("are read where the broker compresses them with %s", async (codec) => {
    const topic = await startTopic({ partitions: 1, settings: { "compression.type": codec } });
    const ledger = await topic.open();
    const values = Array.from({ length: 200 }, (_, i) => `${i} ${"and so on ".repeat(i)}`);
    await ledger.append(session, values);
    expect((await ledger.readSession(session)).map(({ value }) => value)).toEqual(values);
  });

  it.each([[1, "gzip"], [2, "snappy"], [3, "lz4"], [4, "zstd"]])("are read where another producer compressed them (%i, %s)", async (codec) => {
    const topic = await startTopic({ partitions: 1 });
    const ledger = await topic.open();
    const values = Array.from({ length: 50 }, (_, i) => `${i} ${"and so on ".repeat(i)}`);
    await sendForeign(topic, values.map((value) => ({ key: "k", value })), codec);
    expect((await ledger.readSession("k" as SessionId)).map(({ value }) => value)).toEqual(values);
  });
});
