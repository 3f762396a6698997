/** A ledger topic of a test's own on the brokers of the tests, and gone afterwards. */
import { randomUUID } from "node:crypto";
import { type KafkaLedgerOptions, ledgerTopic, openKafkaLedger } from "@loopledger/shared/kafka";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import type { Ledger } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { kafkaBrokers } from "../support/parts/parts.ts";

const clock = createSystemClock();
const ids = createSystemIds();

export const ledgerSettings: Readonly<Record<string, string>> = {
  "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime",
};

export interface LedgerTopic {
  readonly prefix: string;
  readonly brokers: readonly string[];
  /** Another handle, as another process would have it. */
  open(more?: Partial<KafkaLedgerOptions>): Promise<Ledger>;
  make(partitions?: number): Promise<void>;
  remove(): Promise<void>;
  close(): Promise<void>;
}

export async function makeLedgerTopic({ partitions = 4, brokers }: { partitions?: number; brokers?: readonly string[] } = {}): Promise<LedgerTopic> {
  const addresses = brokers ?? (await kafkaBrokers()).split(",");
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const name = ledgerTopic(prefix);
  const admin = await openKafkaAdmin({ brokers: addresses });
  const replication = Math.min(3, addresses.length);
  const opened: Ledger[] = [];
  const make = (count = partitions): Promise<void> => admin.create([{ name, partitions: count, replication, config: ledgerSettings }]);
  const remove = (): Promise<void> => admin.remove([name]);
  await make();
  return {
    prefix, brokers: addresses, make, remove,
    open: async (more) => {
      const ledger = await openKafkaLedger({ connection: { brokers: addresses }, prefix, clock, ids, ...more });
      opened.push(ledger);
      return ledger;
    },
    close: async () => {
      for (const ledger of opened) await ledger.close();
      await remove().catch(() => undefined);
      await admin.close();
    },
  };
}
