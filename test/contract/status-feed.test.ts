/** The status feed in memory, on a topic, and on a topic whose values are in the registry's wire format. */
import { statusFeedContract } from "@loopledger/shared/contracts";
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { partitionOf } from "@loopledger/shared/core/placement";
import { openKafkaStatusFeed, openTopicWriter, statusTopic } from "@loopledger/shared/kafka";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { createMemoryStatusFeed } from "@loopledger/shared/memory";
import { openRegistrySchemas } from "@loopledger/shared/registry";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { Link } from "../../packages/shared/src/adapters/kafka/link.ts";
import { TopicLog } from "../../packages/shared/src/adapters/kafka/topic-log.ts";
import { kafkaBrokers, makeTopics, registryUrl, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

const { test } = vitest;
vitest.vi.setConfig({ testTimeout: 120_000 });
const clock = createSystemClock();
const ids = createSystemIds();
const partitions = 4;
const ledgerId = "ledger-of-this-test";

statusFeedContract(vitest, "memory", async () => {
  const feed = createMemoryStatusFeed({ partitions, documentMax: 1_000 });
  return {
    partitions, ledgerId, open: async (id = ledgerId) => feed.handle(id), tooLarge: "x".repeat(1_001), close: async () => undefined,
    writeOutside: async (sessionId: SessionId, document: string) => feed.put({ sessionId, document }),
  };
});

async function onTopic({ inWireFormat }: { readonly inWireFormat: boolean }) {
  const prefix = uniquePrefix("feed");
  await makeTopics(prefix, { partitions });
  const connection = { brokers: (await kafkaBrokers()).split(",") };
  const schemas = inWireFormat ? openRegistrySchemas({ url: await registryUrl(), clock, log: { warn: () => undefined } }) : undefined;
  await schemas?.publishSchemas(prefix);
  const closing: (() => Promise<void>)[] = [];
  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    closing.push(() => one.close());
    return one;
  };
  return {
    partitions, ledgerId, tooLarge: "x".repeat(10_000_000), prefix, connection,
    openFor: async (more: Partial<Parameters<typeof openKafkaStatusFeed>[0]>) => kept(openKafkaStatusFeed({ connection, prefix, ledger: { ledgerId, partitions }, clock, ids, ...more })),
    open: async (id = ledgerId) => kept(openKafkaStatusFeed({ connection, prefix, ledger: { ledgerId: id, partitions }, clock, ids, schemas })),
    writeOutside: async (sessionId: SessionId, document: string) => kept(await openTopicWriter({ connection, topic: statusTopic(prefix), clock, ids })).write([{ key: sessionId, value: document }]),
    /** Under the same name, while its writers live. */
    makeAnew: async () => {
      const admin = kept(await openKafkaAdmin(connection));
      await admin.remove([statusTopic(prefix)]);
      await until(async () => !(await admin.list()).includes(statusTopic(prefix)), { what: "the topic to be gone" });
      await makeTopics(prefix, { partitions });
    },
    close: async () => {
      for (const close of closing.reverse()) await close();
      await removeTopics(prefix);
    },
  };
}

statusFeedContract(vitest, "a topic", () => onTopic({ inWireFormat: false }));
statusFeedContract(vitest, "a topic in the registry's wire format", () => onTopic({ inWireFormat: true }));

test.each([false, true])("a step of the projector, all of one partition, is one request (in the wire format: %s)", async (inWireFormat) => {
  const topic = await onTopic({ inWireFormat });
  const requests = vitest.vi.spyOn(Link.prototype, "request");
  try {
    const feed = await topic.open();
    const sessions = Array.from({ length: 1_000 }, (_, number) => `session-${number}` as SessionId).filter((id) => partitionOf(id, partitions) === 1);
    vitest.expect(sessions.length).toBeGreaterThan(200);
    // The first one finds out where the topic is, and may be told to look again.
    await feed.write({ partition: 1, position: 1 as Offset, statuses: sessions.slice(0, 1).map((sessionId) => ({ sessionId, document: "{}" })) });
    requests.mockClear();
    for (const position of [2, 3, 4]) await feed.write({ partition: 1, position: position as Offset, statuses: sessions.map((sessionId) => ({ sessionId, document: `{"text":"${"x".repeat(2_000)}"}` })) });
    vitest.expect(requests.mock.calls.filter(([api]) => api === "Produce").length).toBe(3);
  } finally {
    requests.mockRestore();
    await topic.close();
  }
});

test("a topic that is made anew under a live feed: what is claimed on it out of memory of the old one does not count, for anybody", async () => {
  const topic = await onTopic({ inWireFormat: false });
  try {
    const feed = await topic.open();
    const [one = "" as SessionId] = Array.from({ length: 100 }, (_, number) => `session-${number}` as SessionId).filter((id) => partitionOf(id, partitions) === 1);
    const step = { partition: 1, position: 9 as Offset, statuses: [{ sessionId: one, document: "{}" }], claim: { looked: new Map([[1, 3]]) } };
    const first = { ...step, claim: { looked: new Map([[1, 0]]) } };
    for (let written = 0; written < 3; written++) await feed.write(first);
    vitest.expect((await feed.claims()).fed).toEqual(new Map([[1, 9]]));
    await topic.makeAnew();
    await vitest.expect(feed.write(step)).rejects.toMatchObject({ code: "ledger_unreachable", message: vitest.expect.stringContaining("made anew") });
    // One that begins now knows nothing of the old topic: the claim tells by itself that it cannot be true.
    vitest.expect(await (await topic.open()).claims()).toEqual({ fed: new Map(), looked: new Map() });
    vitest.expect(await feed.claims()).toEqual({ fed: new Map(), looked: new Map() });
    await feed.write({ ...step, claim: { looked: new Map([[1, 1]]) } });
    vitest.expect(await feed.claims()).toEqual({ fed: new Map([[1, 9]]), looked: new Map([[1, 1]]) });
  } finally {
    await topic.close();
  }
});

test("a topic that is made anew after something was written, and before anybody looked, is found out by the next look", async () => {
  const topic = await onTopic({ inWireFormat: false });
  try {
    const feed = await topic.open();
    const looks = { claims: () => feed.claims(), read: () => feed.read(new Map([[1, 1]]), () => undefined) };
    for (const look of Object.values(looks)) {
      await look();
      await feed.write({ partition: 1, position: 9 as Offset, statuses: [{ sessionId: "s" as SessionId, document: "{}" }] });
      await topic.makeAnew();
      await vitest.expect(look()).rejects.toMatchObject({ code: "ledger_unreachable", message: vitest.expect.stringContaining("made anew") });
      await look();
    }
  } finally {
    await topic.close();
  }
});

test("on a topic with another number of partitions than the ledger has, nothing is claimed", async () => {
  const topic = await onTopic({ inWireFormat: false });
  try {
    const [same, other] = [await topic.open(), await topic.openFor({ ledger: { ledgerId, partitions: partitions + 1 } })];
    await other.write({ partition: 1, position: 9 as Offset, statuses: [{ sessionId: "s" as SessionId, document: "{}" }], claim: { looked: new Map() } });
    vitest.expect(await other.claims()).toEqual({ fed: new Map(), looked: new Map() });
    const claimsOf = async (feed: typeof same): Promise<boolean[]> => {
      const claims: boolean[] = [];
      await feed.read(new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0])), (record) => void claims.push(record.claims));
      return claims;
    };
    vitest.expect(await claimsOf(other)).toEqual([false]);
    // It is the count alone: for a ledger of the topic's own count the very same record says something.
    vitest.expect([(await same.claims()).fed, await claimsOf(same)]).toEqual([new Map([[1, 9]]), [true]]);
  } finally {
    await topic.close();
  }
});

test("what is written in the registry's wire format is read without a registry", async () => {
  const topic = await onTopic({ inWireFormat: true });
  const log = await TopicLog.open({ connection: topic.connection, topic: statusTopic(topic.prefix), clock });
  try {
    const document = '{"text":"später","n":1.0}';
    await (await topic.open()).write({ partition: 1, position: 1 as Offset, statuses: [{ sessionId: "s" as SessionId, document }] });
    const beginnings: (number | undefined)[] = [];
    await log.walk(({ value }) => void beginnings.push(value?.[0]));
    vitest.expect(beginnings).toEqual([0]);
    const away = async (): Promise<never> => {
      throw new Error("There is no registry.");
    };
    for (const schemas of [undefined, { encode: away, decode: away }]) {
      const documents: string[] = [];
      await (await topic.openFor({ schemas })).read(new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0])), (record) => void documents.push(record.document));
      vitest.expect(documents).toEqual([document]);
    }
  } finally {
    log.close();
    await topic.close();
  }
});
