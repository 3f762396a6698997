/** Grounds on the Kafka and the Redis of the tests, with a prefix that nobody else has. */
import { removeKeys } from "../../contract/redis-outside.ts";
import { kafkaBrokers, makeTopics, redisUrl, removeTopics, uniquePrefix } from "../parts/parts.ts";
import type { Grounds } from "./grounds.ts";

export async function distributedGrounds(name: string): Promise<Grounds> {
  const prefix = uniquePrefix(name);
  const [brokers, redis] = await Promise.all([kafkaBrokers(), redisUrl()]);
  await makeTopics(prefix, { brokers });
  return {
    name: "Kafka and Redis",
    variables: { LOOPLEDGER_KAFKA_BROKERS: brokers, LOOPLEDGER_REDIS_URL: redis, LOOPLEDGER_TOPIC_PREFIX: prefix },
    remove: async () => {
      await removeTopics(prefix, { brokers });
      await removeKeys(redis, `${prefix}:*`);
    },
  };
}
