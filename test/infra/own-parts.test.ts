import { afterAll, describe, expect, test } from "vitest";
import { askRedis } from "@loopledger/infra/redis";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { connectKafka } from "@loopledger/shared/kafka-connection";
import { kafkaBrokers, makeTopics, type OwnKafka, ownKafka, ownRedis, registryUrl, removeTopics, redisUrl, uniquePrefix } from "../support/parts/parts.ts";
import { TcpProxy } from "../support/parts/proxy.ts";
import { until } from "../support/until.ts";

const limits = { timeout: 120_000 };

async function brokersOf(brokers: string): Promise<number> {
  const admin = await openKafkaAdmin({ brokers: brokers.split(","), patience: "none" });
  const { brokers: count } = await admin.cluster();
  await admin.close();
  return count;
}

const ping = (url: string): Promise<string> => askRedis(Number(new URL(url).port), "PING");

describe("the parts of a run", limits, () => {
  test("are a Kafka that takes topics, a Redis that answers and a registry that lists subjects", async () => {
    const prefix = uniquePrefix();
    await makeTopics(prefix);
    const admin = await openKafkaAdmin({ brokers: (await kafkaBrokers()).split(",") });
    const made = await admin.topics([`${prefix}.ledger`]);
    expect(made.get(`${prefix}.ledger`)?.config).toMatchObject({ "cleanup.policy": "delete", "retention.ms": "-1", "message.timestamp.type": "LogAppendTime" });
    await removeTopics(prefix);
    await until(async () => (await admin.topics([`${prefix}.ledger`])).size === 0, { what: "the topic to be gone" });
    await admin.close();
    expect(await ping(await redisUrl())).toBe("+PONG");
    expect((await fetch(`${await registryUrl()}/subjects`)).status).toBe(200);
  });

  test("are named by the environment where it names some, and a wrong name is never replaced", async () => {
    const before = process.env["LOOPLEDGER_REDIS_URL"];
    process.env["LOOPLEDGER_REDIS_URL"] = "redis://127.0.0.1:1";
    try {
      const { parts } = await import("../support/parts/parts.ts?named" as "../support/parts/parts.ts");
      await expect(parts.redisUrl()).rejects.toThrow("LOOPLEDGER_REDIS_URL names redis://127.0.0.1:1, and nobody listens there");
    } finally {
      if (before === undefined) delete process.env["LOOPLEDGER_REDIS_URL"];
      else process.env["LOOPLEDGER_REDIS_URL"] = before;
    }
  });
});

describe("a Kafka of a test's own", limits, () => {
  let own: OwnKafka | undefined;
  afterAll(() => own?.stop());

  test("keeps what it acknowledged over a kill, and loses answers where its proxy is told to", async () => {
    own = await ownKafka({ proxied: true });
    const prefix = uniquePrefix();
    await makeTopics(prefix, { brokers: own.brokers, partitions: 1 });
    const [proxy] = own.proxies;
    if (!proxy) throw new Error("There is no proxy.");
    const kafka = connectKafka({ brokers: own.proxiedBrokers.split(",") });
    const producer = kafka.producer();
    await producer.connect();
    const produces = (): number => proxy.seen.filter(({ api }) => api === "Produce").length;
    await producer.send({ topic: `${prefix}.ledger`, messages: [{ key: "s", value: "leader" }] });
    const before = produces();
    const swallowed = proxy.cutAfter("Produce");
    await producer.send({ topic: `${prefix}.ledger`, messages: [{ key: "s", value: "one" }] });
    expect((await swallowed).api).toBe("Produce");
    await own.kill();
    await expect(brokersOf(own.brokers)).rejects.toThrow();
    await own.restart();
    expect(await brokersOf(own.brokers)).toBe(1);
    await producer.disconnect();

    // The broker took both: the answer to the one was lost, so it was sent again.
    const admin = kafka.admin();
    await admin.connect();
    const [partition] = await admin.fetchTopicOffsets(`${prefix}.ledger`);
    await admin.disconnect();
    expect(partition?.offset).toBe("3");
    expect(produces() - before).toBe(2);
  });
});

describe("a Redis of a test's own", limits, () => {
  test("forgets what it held when it is killed and started again, and answers nobody while it is paused", async () => {
    const own = await ownRedis();
    expect(await askRedis(own.port, "SET held 1")).toBe("+OK");
    own.pause();
    await expect(ping(own.url)).rejects.toThrow();
    own.resume();
    expect(await until(() => ping(own.url), { what: "an answer after the pause" })).toBe("+PONG");
    await own.kill();
    await expect(ping(own.url)).rejects.toThrow();
    await own.restart();
    expect(await askRedis(own.port, "EXISTS held")).toBe(":0");
    await own.stop();
  });

  test("is out of reach behind a proxy that holds or refuses, and there again afterwards", async () => {
    const own = await ownRedis();
    const proxy = await TcpProxy.start(own.port);
    const through = `redis://127.0.0.1:${proxy.port}`;
    expect(await ping(through)).toBe("+PONG");
    proxy.hold();
    await expect(ping(through)).rejects.toThrow();
    proxy.release();
    proxy.refuse();
    await expect(ping(through)).rejects.toThrow();
    proxy.accept();
    expect(await ping(through)).toBe("+PONG");
    await proxy.stop();
    await own.stop();
  });
});
