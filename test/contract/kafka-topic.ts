/** A ledger topic of a test's own on the brokers of the tests, and gone afterwards. */
import { type KafkaLedgerOptions, ledgerTopic, openKafkaLedger } from "@loopledger/shared/kafka";
import { type KafkaAdmin, openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import type { Ledger } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { kafkaBrokers, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

const clock = createSystemClock();
const ids = createSystemIds();

export const ledgerSettings: Readonly<Record<string, string>> = {
  "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime",
};

/** Where three replicas are, two of them have to have a record before it is acknowledged. */
const replicated: Readonly<Record<string, string>> = { ...ledgerSettings, "min.insync.replicas": "2" };

export interface LedgerTopic {
  readonly name: string;
  readonly prefix: string;
  readonly brokers: readonly string[];
  /** Another handle, as another process would have it. */
  open(more?: Partial<KafkaLedgerOptions>): Promise<Ledger>;
  make(partitions?: number): Promise<void>;
  remove(): Promise<void>;
  close(): Promise<void>;
}

export interface LedgerTopicOptions {
  readonly partitions?: number;
  /** Default: the brokers of the run. */
  readonly brokers?: string;
  /** Beside those that every ledger has. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function makeLedgerTopic({ partitions = 4, brokers, settings }: LedgerTopicOptions = {}): Promise<LedgerTopic> {
  const addresses = (brokers ?? (await kafkaBrokers())).split(",");
  const prefix = uniquePrefix();
  const name = ledgerTopic(prefix);
  const replication = Math.min(3, addresses.length);
  const config = { ...(replication === 3 ? replicated : ledgerSettings), ...settings };
  const opened: Ledger[] = [];
  const make = (count = partitions): Promise<void> =>
    administer(addresses, (admin) => admin.create([{ name, partitions: count, replication, config }]));
  const remove = (): Promise<void> => administer(addresses, async (admin) => {
    await admin.remove([name]);
    // Whoever makes it anew is not to find the former one.
    await until(async () => !(await admin.list()).includes(name), { what: `the end of ${name}` });
  });
  await make();
  return {
    prefix, name, brokers: addresses, make, remove,
    open: async (more) => {
      const ledger = await openKafkaLedger({ connection: { brokers: addresses }, prefix, clock, ids, ...more });
      opened.push(ledger);
      return ledger;
    },
    close: async () => {
      for (const ledger of opened) await ledger.close();
      // Brokers of a test's own go with all that they hold, and may be down by now.
      if (brokers === undefined) await removeTopics(prefix);
    },
  };
}

async function administer(brokers: readonly string[], work: (admin: KafkaAdmin) => Promise<void>): Promise<void> {
  const admin = await openKafkaAdmin({ brokers });
  try {
    await work(admin);
  } finally {
    await admin.close();
  }
}
