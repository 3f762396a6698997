/** A topic that is looked through from its beginning to its end, while records are taken away from it and added to it. */
import { connectKafka, openTopicWriter, type TopicWriter } from "@loopledger/shared/kafka";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Reading } from "../../packages/shared/src/adapters/kafka/reading.ts";
import { TopicLog } from "../../packages/shared/src/adapters/kafka/topic-log.ts";
import { kafkaBrokers, makeTopics, removeTopics, uniquePrefix } from "../support/parts/parts.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
const clock = createSystemClock();
let prefix: string;
let topic: string;
let connection: { readonly brokers: string[] };
let writer: TopicWriter;
let log: TopicLog;

beforeEach(async () => {
  prefix = uniquePrefix("log");
  topic = `${prefix}.goals`;
  connection = { brokers: (await kafkaBrokers()).split(",") };
  await makeTopics(prefix, { partitions: 1 });
  writer = await openTopicWriter({ connection, topic, clock, ids: createSystemIds() });
  log = await TopicLog.open({ connection, topic, clock });
});
afterEach(async () => {
  vi.restoreAllMocks();
  log.close();
  await writer.close();
  await removeTopics(prefix);
});

const write = (...values: readonly string[]): Promise<void> => writer.write(values.map((value) => ({ key: null, value })));
async function walk(reach?: Parameters<TopicLog["walk"]>[1]): Promise<{ readonly values: readonly string[]; readonly ends: ReadonlyMap<number, number> }> {
  const values: string[] = [];
  const ends = await log.walk(({ value }) => void values.push(value?.toString() ?? ""), reach);
  return { values, ends };
}

describe("a topic that is looked through", () => {
  it("begins at what is left where retention has taken the beginning away, also for who would begin before that", async () => {
    await write("0", "1", "2", "3", "4");
    expect((await walk()).values).toEqual(["0", "1", "2", "3", "4"]);
    const admin = connectKafka(connection).admin();
    await admin.connect();
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "3" }] });
    await admin.disconnect();
    const left = { values: ["3", "4"], ends: new Map([[0, 5]]) };
    expect([await walk(), await walk({ from: new Map([[0, 1]]) }), await walk({ lastMax: 4 })]).toEqual([left, left, left]);
  });

  it("ends where it ended when the look began, whatever is written meanwhile", async () => {
    await write("0", "1", "2");
    const ends = Reading.prototype.ends;
    vi.spyOn(Reading.prototype, "ends").mockImplementationOnce(async function (this: Reading, partitions) {
      const told = await ends.call(this, partitions);
      await write("later", "later still");
      return told;
    });
    expect(await walk()).toEqual({ values: ["0", "1", "2"], ends: new Map([[0, 3]]) });
    expect(await walk({ from: new Map([[0, 3]]) })).toEqual({ values: ["later", "later still"], ends: new Map([[0, 5]]) });
  });
});
