/** The services on Kafka and Redis, and what they refuse to start on. */
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { afterEach, describe, expect, test } from "vitest";
import { sendTo } from "../contract/redis-outside.ts";
import { ownRedis } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import type { Grounds } from "../support/worlds/grounds.ts";
import { DeploymentUnderTest, serviceNames } from "./deployment.ts";
import { servicesSuite } from "./suite.ts";

servicesSuite("Kafka and Redis", () => distributedGrounds("services"));

describe("a set-up that would lose what it is given", () => {
  let deployed: DeploymentUnderTest;
  afterEach(() => deployed.close());
  const brokersOf = ({ variables }: Grounds): string[] => (variables["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",");
  const ledgerOf = ({ variables }: Grounds): string => `${variables["LOOPLEDGER_TOPIC_PREFIX"]}.ledger`;

  test.each(serviceNames)("a compacted ledger topic is refused by the %s with the command that mends it", async (service) => {
    const grounds = await distributedGrounds("services");
    deployed = new DeploymentUnderTest(grounds);
    const admin = await openKafkaAdmin({ brokers: brokersOf(grounds) });
    try {
      const name = ledgerOf(grounds);
      await admin.configure(name, { ...(await admin.topics([name])).get(name)?.overrides, "cleanup.policy": "compact" });
      await until(async () => (await admin.topics([name])).get(name)?.config["cleanup.policy"] === "compact", { what: "the setting to be in force" });
    } finally {
      await admin.close();
    }
    const ended = await deployed.start(service).ended;
    expect(ended).toMatchObject({ code: 7, out: "" });
    expect(ended.err).toContain("cleanup.policy is compact and must be delete");
    expect(ended.err).toContain("loopledger topics apply");
  });

  test("topics that are not there are refused with the command that makes them", async () => {
    const grounds = await distributedGrounds("services");
    deployed = new DeploymentUnderTest({ ...grounds, variables: { ...grounds.variables, LOOPLEDGER_TOPIC_PREFIX: `${grounds.variables["LOOPLEDGER_TOPIC_PREFIX"]}-none` } });
    expect(await deployed.start("worker").ended).toMatchObject({ code: 7, err: expect.stringMatching(/there is no topic[\s\S]*loopledger topics apply/) });
  });

  test("a Redis that evicts is refused with the command that mends it", async () => {
    const redis = await ownRedis();
    const grounds = await distributedGrounds("services");
    deployed = new DeploymentUnderTest({ ...grounds, variables: { ...grounds.variables, LOOPLEDGER_REDIS_URL: redis.url } });
    try {
      await sendTo(redis.url, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      expect(await deployed.start("worker").ended).toMatchObject({ code: 7, err: expect.stringMatching(/allkeys-lru[\s\S]*CONFIG SET maxmemory-policy noeviction/) });
    } finally {
      await redis.stop();
    }
  });
});
