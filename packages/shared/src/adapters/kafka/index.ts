/** The ledger on Kafka. The client, kafkajs, is imported in this folder only. */
export { connectKafka, type KafkaConnection, type KafkaSasl } from "./connection.ts";
export { type KafkaDeadLettersOptions, openKafkaDeadLetters } from "./dead-letters.ts";
export { lookForHeldUp } from "./held-up.ts";
export { type KafkaInboxOptions, openKafkaInbox } from "./inbox.ts";
export { type KafkaLedgerOptions, ledgerTopic, lookAtPartitions, openKafkaLedger } from "./ledger.ts";
export { type KafkaStatusFeedOptions, openKafkaStatusFeed, statusTopic } from "./status-feed.ts";
export { openTopicReader, type TopicGap, type TopicReader, type TopicReaderOptions, type TopicRecord } from "./topic-reader.ts";
export { openTopicWriter, type RawRecord, type TopicWriter, type TopicWriterOptions } from "./topic-writer.ts";
