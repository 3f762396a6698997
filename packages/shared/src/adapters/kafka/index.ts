/** The ledger on Kafka. The client, kafkajs, is imported in this folder only. */
export { brokerList, connectKafka, defaultClientId, type KafkaConnection, type KafkaSasl } from "./connection.ts";
export { defaultPrefix, type KafkaLedgerOptions, ledgerTopic, openKafkaLedger } from "./ledger.ts";
