import { expect, it, vi } from "vitest";
import { openKafkaAdmin } from "./admin.ts";

interface Partition { readonly leader: number; readonly partitionErrorCode: number; readonly replicas: readonly number[] }
const led = (leader: number, partitionErrorCode = 0): Partition => ({ leader, partitionErrorCode, replicas: [1] });
/** What the metadata shows of the new topic, look for look; null where it does not show it yet. */
const looks: (readonly Partition[] | null)[] = [null, [led(-1), led(1)], [led(1), led(1, 5)], [led(1)], [led(1), led(1)]];
const asked: object[] = [];
const now = (): readonly Partition[] | null | undefined => looks[0];
vi.mock("./connection.ts", () => ({
  mendOfLogin: () => null,
  connectKafka: () => ({
    admin: () => ({
      connect: async () => undefined, disconnect: async () => undefined,
      createTopics: async (order: object) => void asked.push(order),
      listTopics: async () => {
        if (now() !== null) return ["x.ledger"];
        looks.shift();
        return [];
      },
      fetchTopicMetadata: async () => ({ topics: [{ name: "x.ledger", partitions: looks.shift() }] }),
    }),
  }),
}));

it("has made a topic once the metadata shows each of its partitions with a leader, and not before", async () => {
  const admin = await openKafkaAdmin({ brokers: ["127.0.0.1:1"] });
  await admin.create([{ name: "x.ledger", partitions: 2, replication: 1, config: { "retention.ms": "-1" } }]);
  expect(looks).toEqual([]);
  expect(asked).toMatchObject([{ topics: [{ topic: "x.ledger", numPartitions: 2, configEntries: [{ name: "retention.ms", value: "-1" }] }] }]);
  await admin.close();
});
