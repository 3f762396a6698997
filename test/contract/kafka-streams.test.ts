/** Raw topics beside the ledger: what a writer writes, and what a member of a group is handed, and when it counts as read. */
import { connectKafka, openTopicReader, openTopicWriter, type TopicGap, type TopicReader, type TopicRecord, type TopicWriter } from "@loopledger/shared/kafka";
import { partitionOf } from "@loopledger/shared/core/placement";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, describe, expect, it } from "vitest";
import { kafkaBrokers, makeTopics, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

const clock = createSystemClock();
const ids = createSystemIds();
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
}, 120_000);

async function startGoals() {
  const prefix = uniquePrefix();
  await makeTopics(prefix, { partitions: 3 });
  endings.push(() => removeTopics(prefix));
  const connection = { brokers: (await kafkaBrokers()).split(",") };
  const topic = `${prefix}.goals`;
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    endings.push(() => one.close());
    return one;
  };
  const write = async (): Promise<TopicWriter> => keep(await openTopicWriter({ connection, topic, clock, ids }));
  const told: unknown[] = [];
  const gaps: TopicGap[] = [];
  const read = async (handle: (records: readonly TopicRecord[]) => Promise<void>): Promise<TopicReader> =>
    keep(await openTopicReader({ connection, topic, group: `${prefix}.intake`, handle, gap: (gap) => void gaps.push(gap), log: (error) => void told.push(error) }));
  return { connection, topic, write, read, told, gaps };
}

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());

describe("a raw topic", () => {
  it("gives back keys, bytes, headers and positions as they were written", async () => {
    const { topic, write, read } = await startGoals();
    const writer = await write();
    const bytes = Uint8Array.from([0, 255, 254, 1]);
    await writer.write([
      { key: "a", value: bytes, headers: { reason: "not_json", raw: Uint8Array.from([200]) } },
      { key: "a", value: null }, { key: "a", value: "" }, { key: null, value: "no key" },
    ]);
    const got: TopicRecord[] = [];
    await read(async (records) => void got.push(...records));
    await until(() => got.length === 4, { what: "all four records", timeoutMs: 60_000 });
    const home = partitionOf("a", 3);
    const own = got.filter(({ key }) => text(key) === "a");
    expect(own.map(({ partition, offset }) => [partition, offset - (own[0]?.offset ?? 0)])).toEqual([[home, 0], [home, 1], [home, 2]]);
    expect(own.map(({ value }) => (value === null ? null : [...value]))).toEqual([[...bytes], null, []]);
    expect(text(own[0]?.headers["reason"] ?? null)).toBe("not_json");
    expect([...(own[0]?.headers["raw"] ?? [])]).toEqual([200]);
    expect(got.filter(({ key }) => key === null)).toMatchObject([{ topic, headers: {} }]);
  }, 120_000);

  it("hands the same records on again where the handler threw, and to the next member where it was not done", async () => {
    const { write, read, told } = await startGoals();
    const writer = await write();
    await writer.write([{ key: "a", value: "1" }, { key: "a", value: "2" }]);
    const tries: string[] = [];
    const first = await read(async (records) => {
      tries.push(records.map(({ value }) => text(value)).join());
      throw new Error("The ledger is away.");
    });
    await until(() => tries.length >= 2, { what: "a second try", timeoutMs: 60_000 });
    expect(new Set(tries)).toEqual(new Set(["1,2"]));
    expect(told[0]).toMatchObject({ message: "The ledger is away." });
    await first.close();
    const taken: (string | null)[] = [];
    const second = await read(async (records) => void taken.push(...records.map(({ value }) => text(value))));
    await until(() => taken.length === 2, { what: "the records at the next member", timeoutMs: 60_000 });
    await second.close();
    await writer.write([{ key: "a", value: "3" }]);
    await read(async (records) => void taken.push(...records.map(({ value }) => text(value))));
    await until(() => taken.includes("3"), { what: "what is new", timeoutMs: 60_000 });
    expect(taken).toEqual(["1", "2", "3"]);
  }, 120_000);

  it("tells what retention took away before the group had read it", async () => {
    const { connection, topic, write, read, gaps } = await startGoals();
    const writer = await write();
    const partition = partitionOf("a", 3);
    await writer.write([{ key: "a", value: "0" }]);
    const taken: (string | null)[] = [];
    const take = async (records: readonly TopicRecord[]): Promise<void> => void taken.push(...records.map(({ value }) => text(value)));
    const first = await read(take);
    await until(() => taken.length === 1, { what: "the first record", timeoutMs: 60_000 });
    await first.close();
    await writer.write(["1", "2", "3", "4"].map((value) => ({ key: "a", value })));
    const admin = connectKafka(connection).admin();
    await admin.connect();
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: "3" }] });
    await admin.disconnect();
    await read(take);
    await until(() => taken.includes("4"), { what: "what is left", timeoutMs: 60_000 });
    expect(taken).toEqual(["0", "3", "4"]);
    expect(gaps).toEqual([{ topic, partition, from: 1, to: 3 }]);
  }, 120_000);

  it("is never made by who reads or writes it", async () => {
    const { connection } = await startGoals();
    const topic = `${uniquePrefix()}.goals`;
    const refusal = { code: "ledger_unreachable", next: expect.stringContaining("loopledger topics apply") };
    await expect(openTopicWriter({ connection, topic, clock, ids })).rejects.toMatchObject(refusal);
    const nothing = (): void => undefined;
    await expect(openTopicReader({ connection, topic, group: topic, handle: async () => undefined, gap: nothing, log: nothing })).rejects.toMatchObject(refusal);
  }, 120_000);
});
