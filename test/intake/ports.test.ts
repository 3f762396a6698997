/** The topic of goals and the dead letters, in memory and on Kafka: the same behaviour. */
import { deadLettersContract, inboxContract } from "@loopledger/shared/contracts";
import { openKafkaDeadLetters, openKafkaInbox } from "@loopledger/shared/kafka";
import { createMemoryDeadLetters, createMemoryInbox } from "@loopledger/shared/memory";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { kafkaBrokers, makeTopics, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

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
