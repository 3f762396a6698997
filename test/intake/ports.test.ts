/** The topic of goals and the dead letters, in memory and on Kafka: the same behaviour. */
import { deadLettersContract, inboxContract } from "@loopledger/shared/contracts";
import { connectKafka, openKafkaDeadLetters, openKafkaInbox, openTopicWriter } from "@loopledger/shared/kafka";
import type { InboxRecord } from "@loopledger/shared/ports";
import { createMemoryDeadLetters, createMemoryInbox } from "@loopledger/shared/memory";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { kafkaBrokers, makeTopics, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

const { test } = vitest;
vitest.vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const clock = createSystemClock();
const ids = createSystemIds();
const wait = (condition: () => boolean, what: string) => until(condition, { what, timeoutMs: 90_000 });

/** Topics of their own, and handles on them that are closed in the end. */
async function onKafka<T extends { close(): Promise<void> }>(openOne: (options: { readonly connection: { readonly brokers: string[] }; readonly prefix: string }) => T) {
  const prefix = uniquePrefix("intake");
  const brokers = (await kafkaBrokers()).split(",");
  await makeTopics(prefix);
  const opened: T[] = [];
  return {
    open: async () => {
      const one = openOne({ connection: { brokers }, prefix });
      opened.push(one);
      return one;
    },
    close: async () => {
      await Promise.all(opened.map((one) => one.close()));
      await removeTopics(prefix);
    },
  };
}

inboxContract(vitest, "memory", async () => {
  const inbox = createMemoryInbox({ clock, partitions: 3 });
  return { open: async () => inbox, until: wait, close: async () => undefined };
});
deadLettersContract(vitest, "memory", async () => {
  const letters = createMemoryDeadLetters();
  return { open: async () => letters, close: async () => undefined };
});
inboxContract(vitest, "kafka", async () => ({ ...(await onKafka((options) => openKafkaInbox({ ...options, clock, ids }))), until: wait }));
deadLettersContract(vitest, "kafka", () => onKafka((options) => openKafkaDeadLetters({ ...options, clock, ids })));

test("a letter that is on the topic already is not written again, neither by its writer nor by a process that comes later", async () => {
  const prefix = uniquePrefix("intake");
  const connection = { brokers: (await kafkaBrokers()).split(",") };
  await makeTopics(prefix, { partitions: 1 });
  const [one, later] = [openKafkaDeadLetters({ connection, prefix, clock, ids }), openKafkaDeadLetters({ connection, prefix, clock, ids })];
  const admin = connectKafka(connection).admin();
  await admin.connect();
  try {
    const letterAt = (offset: number) => ({
      source: { topic: "other.goals", partition: 0, offset }, reason: "not_json" as const, detail: "no JSON", at: new Date(clock.now()).toISOString(),
      key: null, value: new TextEncoder().encode("{"), headers: {},
    });
    await one.put([letterAt(1), letterAt(2)]);
    await one.put([letterAt(2), letterAt(1)]);
    await later.put([letterAt(1), letterAt(2), letterAt(3)]);
    await one.put([letterAt(3)]);
    vitest.expect((await admin.fetchTopicOffsets(`${prefix}.dead-letters`)).map(({ high }) => high)).toEqual(["3"]);
  } finally {
    await Promise.all([one.close(), later.close(), admin.disconnect()]);
    await removeTopics(prefix);
  }
});

test("headers of any kind are taken as other clients write them: without a value, by the thousand, of names that every object knows", async () => {
  const prefix = uniquePrefix("intake");
  const connection = { brokers: (await kafkaBrokers()).split(",") };
  await makeTopics(prefix, { partitions: 1 });
  const [inbox, writer] = [openKafkaInbox({ connection, prefix, clock, ids }), await openTopicWriter({ connection, topic: `${prefix}.goals`, clock, ids })];
  try {
    const many = Array.from({ length: 5_000 }, () => Buffer.alloc(0));
    await writer.write([{ key: "k", value: "v", headers: { none: null as never, ["__proto__"]: "p", constructor: "c", many: "last" }, repeats: { many } }]);
    const got: InboxRecord[] = [];
    const reader = await inbox.read({ handle: async (records) => void got.push(...records), gap: () => undefined, troubled: () => undefined });
    await wait(() => got.length === 1, "the record");
    await reader.close();
    vitest.expect(Object.entries(got[0]?.headers ?? {}).map(([name, content]) => [name, Buffer.from(content).toString()])).toEqual([["none", ""], ["__proto__", "p"], ["constructor", "c"], ["many", "last"]]);
    vitest.expect(got[0]?.repeats?.["many"]).toHaveLength(5_000);
  } finally {
    await Promise.all([inbox.close(), writer.close()]);
    await removeTopics(prefix);
  }
});
