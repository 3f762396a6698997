/** Other producers that write in transactions, beside the ledger's own appends, which never are part of one. */
import { connectKafka } from "@loopledger/shared/kafka";

export interface TransactionRecord {
  readonly key: string | Buffer;
  readonly value: string;
}
export interface OpenTransaction {
  /** Gives the offset of the record. */
  write(record: TransactionRecord): Promise<number>;
  takeBack(): Promise<void>;
  makeGood(): Promise<void>;
}
export interface TransactionalProducer {
  begin(): Promise<OpenTransaction>;
  close(): Promise<void>;
}

/** One of the same name that comes later puts an end to what this one left open. */
export async function openTransactionalProducer({ brokers, topic, name, partition = 0 }: { readonly brokers: readonly string[]; readonly topic: string; readonly name: string; readonly partition?: number }): Promise<TransactionalProducer> {
  const producer = connectKafka({ brokers, clientId: name }).producer({ transactionalId: `${topic}.${name}`, idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  return {
    begin: async () => {
      const transaction = await producer.transaction();
      return {
        write: async (record) => {
          const [answer] = await transaction.send({ topic, messages: [{ ...record, partition }] });
          return Number(answer?.baseOffset);
        },
        takeBack: () => transaction.abort(),
        makeGood: () => transaction.commit(),
      };
    },
    close: () => producer.disconnect(),
  };
}
