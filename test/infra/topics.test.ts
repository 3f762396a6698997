import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { refuseUnprepared } from "@loopledger/infra/findings";
import { askRedis } from "@loopledger/infra/redis";
import { refuseOtherBeginning } from "@loopledger/infra/topics-apply";
import type { SessionId } from "@loopledger/shared/core/brand";
import { connectKafka, openKafkaLedger } from "@loopledger/shared/kafka";
import { type KafkaAdmin, openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { type Ended, type Variables, Workshop, patienceMs } from "../cli/workshop.ts";
import { openTransactionalProducer } from "../contract/transactions.ts";
import { kafkaBrokers, ownRedis, type OwnRedis, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: 2 * patienceMs });

interface Check { readonly name: string; readonly ok: boolean; readonly detail: string; readonly fix: string | null }
interface Applied { readonly topics: { readonly name: string; readonly did: string; readonly partitions: number; readonly changed: object }[] }

let shop: Workshop;
let admin: KafkaAdmin;
let prefix: string;
let environment: Variables;
let redis: OwnRedis;

beforeAll(async () => {
  admin = await openKafkaAdmin({ brokers: (await kafkaBrokers()).split(",") });
  redis = await ownRedis();
});
afterAll(async () => {
  await redis.stop();
  await admin.close();
});
beforeEach(async () => {
  shop = new Workshop();
  prefix = uniquePrefix("topics");
  environment = { LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers(), LOOPLEDGER_REDIS_URL: redis.url, LOOPLEDGER_TOPIC_PREFIX: prefix };
});
afterEach(async () => {
  await removeTopics(prefix);
  await shop.close();
});

const command = (words: readonly string[], variables: Variables = {}): Promise<Ended> => shop.start(words, { ...environment, ...variables }).ended;
const apply = async (...words: string[]): Promise<Applied> => {
  const { code, out, err } = await command(["topics", "apply", "--json", ...words]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Applied;
};
async function doctor(variables: Variables = {}): Promise<{ readonly code: number | string; readonly ok: boolean; readonly wrong: readonly Check[] }> {
  const { code, out } = await command(["doctor", "--json"], variables);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
  return { code, ok, wrong: checks.filter((check) => !check.ok) };
}
/** Waits for it: on a busy machine a part may not answer within what `doctor` gives it. */
const sees = (wrong: readonly Check[]): Promise<unknown> => until(async () => {
  expect(await doctor()).toEqual({ code: wrong.length === 0 ? 0 : 1, ok: wrong.length === 0, wrong });
  return true;
}, { what: "what doctor has to find", timeoutMs: patienceMs });
const nameOf = (role: string): string => `${prefix}.${role}`;
const factsOf = async (role: string) => (await admin.topics([nameOf(role)])).get(nameOf(role));
/** What the product has no call for, and anybody with the broker's own tools can do. */
async function addPartitions(topic: string, count: number): Promise<void> {
  const client = connectKafka({ brokers: (await kafkaBrokers()).split(",") }).admin();
  await client.connect();
  await client.createPartitions({ topicPartitions: [{ topic, count }] });
  await client.disconnect();
}

describe("topics apply", () => {
  test("makes the topics as they must be, and changes nothing the second time", async () => {
    const made = await apply("--partitions", "3");
    expect(made.topics.map(({ name, did, partitions }) => [name, did, partitions])).toEqual(["goals", "ledger", "status", "dead-letters"].map((role) => [nameOf(role), "made", 3]));
    expect(await factsOf("ledger")).toMatchObject({ partitions: 3, replication: 1, config: { "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime", "min.insync.replicas": "1", "unclean.leader.election.enable": "false" } });
    expect(await factsOf("status")).toMatchObject({ config: { "cleanup.policy": "compact" } });
    expect(await factsOf("goals")).toMatchObject({ config: { "cleanup.policy": "delete" } });
    expect(Number((await factsOf("dead-letters"))?.config["retention.ms"])).toBeGreaterThan(365 * 24 * 3_600_000);
    const again = await apply();
    expect(again.topics.map(({ did, partitions, changed }) => [did, partitions, changed])).toEqual(made.topics.map(() => ["nothing", 3, {}]));
    expect((await apply("--partitions", "3")).topics.map(({ did }) => did)).toEqual(["nothing", "nothing", "nothing", "nothing"]);
  });

  test("gives ledger and status room for what belongs together: several times the broker's own default, and more where the operator says so", async () => {
    await apply("--partitions", "1");
    for (const role of ["ledger", "status"]) expect(Number((await factsOf(role))?.config["max.message.bytes"])).toBe(8 << 20);
    await admin.configure(nameOf("status"), { ...(await factsOf("status"))?.overrides, "max.message.bytes": "1048588" });
    await admin.configure(nameOf("ledger"), { ...(await factsOf("ledger"))?.overrides, "max.message.bytes": String(16 << 20) });
    await until(async () => (await factsOf("ledger"))?.config["max.message.bytes"] === String(16 << 20) && (await factsOf("status"))?.config["max.message.bytes"] === "1048588", { what: "the settings to be in force", timeoutMs: patienceMs });
    expect((await doctor()).wrong).toMatchObject([{ name: `topic ${nameOf("status")}`, fix: "loopledger topics apply" }]);
    await refuseUnprepared({ brokers: (await kafkaBrokers()).split(",") }, prefix);
    const mended = await apply();
    expect(mended.topics.filter(({ did }) => did === "mended")).toEqual([expect.objectContaining({ name: nameOf("status"), changed: { "max.message.bytes": { from: "1048588", to: String(8 << 20) } } })]);
    const ledger = await openKafkaLedger({ connection: { brokers: (await kafkaBrokers()).split(",") }, prefix, clock: createSystemClock(), ids: createSystemIds() });
    const record = `{"text":"${"x".repeat(900_000)}"}`;
    await ledger.append("large" as SessionId, [record, record, record, record, record]);
    expect((await ledger.readSession("large" as SessionId)).map(({ value }) => value)).toEqual([record, record, record, record, record]);
    await ledger.close();
  });

  test("mends what was set otherwise and keeps what the operator has set beside it", async () => {
    await apply("--partitions", "1");
    await admin.configure(nameOf("ledger"), { "cleanup.policy": "compact", "retention.ms": "1000", "segment.bytes": "1048576", "message.timestamp.type": "CreateTime", "max.message.bytes": String(8 << 20) });
    await admin.configure(nameOf("goals"), { "retention.ms": "3600000" });
    const found = await until(async () => {
      const looked = await doctor();
      return looked.wrong.length > 0 && looked;
    }, { what: "doctor to see the change", timeoutMs: patienceMs });
    expect(found).toMatchObject({ code: 1, ok: false });
    expect(found.wrong).toEqual([{ name: `topic ${nameOf("ledger")}`, ok: false, fix: "loopledger topics apply", detail: expect.stringContaining("retention.ms is 1000 and must be -1") }]);
    const mended = await apply();
    expect(mended.topics.filter(({ did }) => did === "mended")).toEqual([expect.objectContaining({
      name: nameOf("ledger"),
      changed: {
        "cleanup.policy": { from: "compact", to: "delete" }, "retention.ms": { from: "1000", to: "-1" }, "message.timestamp.type": { from: "CreateTime", to: "LogAppendTime" },
      },
    })]);
    await until(async () => (await factsOf("ledger"))?.config["retention.ms"] === "-1", { what: "the mended ledger" });
    expect((await factsOf("ledger"))?.overrides).toMatchObject({ "segment.bytes": "1048576", "cleanup.policy": "delete" });
    expect((await factsOf("goals"))?.config["retention.ms"]).toBe("3600000");
    expect(await doctor()).toEqual({ code: 0, ok: true, wrong: [] });
  });

  test("refuses another partition count before it changes or makes anything", async () => {
    await admin.create([{ name: nameOf("ledger"), partitions: 2, replication: 1, config: { "retention.ms": "1000" } }]);
    const { code, err } = await command(["topics", "apply", "--partitions", "4"]);
    expect(code).toBe(1);
    expect(err).toContain(`${nameOf("ledger")} has 2 partitions, not 4`);
    expect(await factsOf("goals")).toBeUndefined();
    expect(await factsOf("ledger")).toMatchObject({ partitions: 2, config: { "retention.ms": "1000" } });
    // Without a count the others follow the ledger that is there.
    expect((await apply()).topics.map(({ did, partitions }) => [did, partitions])).toEqual([["made", 2], ["mended", 2], ["made", 2], ["made", 2]]);
  });

  test("refuses a ledger whose topic was given more partitions than it was begun with, before it changes or makes anything", async () => {
    await apply("--partitions", "1");
    const connection = { brokers: (await kafkaBrokers()).split(",") };
    await (await openKafkaLedger({ connection, prefix, clock: createSystemClock(), ids: createSystemIds() })).close();
    await admin.configure(nameOf("status"), { "cleanup.policy": "delete" });
    await admin.remove([nameOf("goals")]);
    await addPartitions(nameOf("ledger"), 2);
    const isSet = async (): Promise<boolean> => (await factsOf("ledger"))?.partitions === 2 && (await factsOf("goals")) === undefined && (await factsOf("status"))?.config["cleanup.policy"] === "delete";
    await until(isSet, { what: "the second partition, and what else is to be mended", timeoutMs: patienceMs });
    for (const words of [[], ["--partitions", "2"], ["--partitions", "1"]]) {
      const { code, out, err } = await command(["topics", "apply", ...words]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(new RegExp(`${nameOf("ledger")} has 2 partitions, and the ledger was begun with 1\\.\n.*LOOPLEDGER_TOPIC_PREFIX=<another> loopledger topics apply`));
    }
    expect(await isSet()).toBe(true);
    // Who may set topics and not read them is told, and not kept from it.
    const told: string[] = [];
    await refuseOtherBeginning(admin, { connection: { brokers: ["127.0.0.1:1"], patience: "none" }, prefix, tell: (text) => void told.push(text) });
    expect(told).toEqual([expect.stringContaining("127.0.0.1:1")]);
  });

  test("refuses more copies than there are brokers, a missing address and an address without Kafka", async () => {
    expect(await command(["topics", "apply", "--replication", "9"])).toMatchObject({ code: 1, err: expect.stringContaining("9 copies need as many brokers") });
    expect(await factsOf("ledger")).toBeUndefined();
    expect(await command(["topics", "apply"], { LOOPLEDGER_KAFKA_BROKERS: "", LOOPLEDGER_REDIS_URL: "" })).toMatchObject({ code: 2, err: expect.stringContaining("LOOPLEDGER_KAFKA_BROKERS is not set") });
    expect(await command(["topics", "apply"], { LOOPLEDGER_KAFKA_BROKERS: "127.0.0.1:1" })).toMatchObject({ code: 7, err: expect.stringContaining("127.0.0.1:1") });
  });

  test("flushes each record of the ledger where that is asked for, and leaves it so afterwards", async () => {
    await apply("--partitions", "1", "--flush");
    expect((await factsOf("ledger"))?.config["flush.messages"]).toBe("1");
    expect((await apply()).topics.map(({ did }) => did)).toEqual(["nothing", "nothing", "nothing", "nothing"]);
    expect((await factsOf("ledger"))?.config["flush.messages"]).toBe("1");
  });
});

describe("doctor", () => {
  test("names each missing topic and the command that makes it, and a service is refused with the same words", async () => {
    const { code, wrong } = await doctor();
    expect(code).toBe(1);
    expect(wrong.map(({ name, detail, fix }) => [name, detail, fix])).toEqual(["goals", "ledger", "status", "dead-letters"].map((role) =>
      [`topic ${nameOf(role)}`, `there is no topic ${nameOf(role)}`, "loopledger topics apply"]));
    await expect(refuseUnprepared({ brokers: (await kafkaBrokers()).split(",") }, prefix)).rejects.toMatchObject({
      code: "ledger_unprepared", message: expect.stringContaining(`there is no topic ${nameOf("ledger")}`), next: expect.stringContaining("`loopledger topics apply`"),
    });
    await apply("--partitions", "1");
    await expect(refuseUnprepared({ brokers: (await kafkaBrokers()).split(",") }, prefix)).resolves.toBeUndefined();
  });

  test("sees that somebody gave the topic of a ledger more partitions than it was begun with, as every start does", async () => {
    await apply("--partitions", "1");
    const connection = { brokers: (await kafkaBrokers()).split(",") };
    const open = () => openKafkaLedger({ connection, prefix, clock: createSystemClock(), ids: createSystemIds() });
    // Nothing was begun, and to look begins nothing.
    await sees([]);
    await addPartitions(nameOf("ledger"), 2);
    await until(async () => (await factsOf("ledger"))?.partitions === 2, { what: "the second partition", timeoutMs: patienceMs });
    await sees([]);
    await (await open()).close();
    await sees([]);
    await addPartitions(nameOf("ledger"), 3);
    await until(async () => (await factsOf("ledger"))?.partitions === 3, { what: "the third partition", timeoutMs: patienceMs });
    const refusal = await open().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "ledger_mismatch", next: expect.stringContaining("loopledger topics apply") });
    await sees([{ name: `topic ${nameOf("ledger")}`, ok: false, detail: "3 partitions, and the ledger was begun with 2", fix: (refusal as { next: string }).next }]);
  });

  test("F47 sees a transaction of another producer that stays open on the goals topic, and says how to end it", async () => {
    await apply("--partitions", "1");
    const brokers = (await kafkaBrokers()).split(",");
    const producer = await openTransactionalProducer({ brokers, topic: nameOf("goals"), name: "relay" });
    try {
      const done = await producer.begin();
      await done.write({ key: "k", value: "{}" });
      await done.makeGood();
      expect(await doctor()).toEqual({ code: 0, ok: true, wrong: [] });
      const open = await producer.begin();
      const at = await open.write({ key: "k", value: "{}" });
      expect((await doctor()).wrong).toEqual([{
        name: `topic ${nameOf("goals")}`, ok: false, detail: expect.stringContaining(`Partition 0 of ${nameOf("goals")} is held up at offset ${at}`),
        fix: expect.stringContaining(`kafka-transactions.sh --bootstrap-server ${brokers.join(",")} abort --topic ${nameOf("goals")} --partition 0 --start-offset ${at}`),
      }]);
      await open.takeBack();
      expect(await doctor()).toEqual({ code: 0, ok: true, wrong: [] });
    } finally {
      await producer.close();
    }
  });

  test("asks every broker that is named before it says that none answers: one is away, another one takes connections and says nothing", async () => {
    await apply("--partitions", "1");
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const others = ["127.0.0.1:1", `127.0.0.1:${(silent.address() as AddressInfo).port}`];
    try {
      await expect(refuseUnprepared({ brokers: [...others, ...(await kafkaBrokers()).split(",")] }, prefix)).resolves.toBeUndefined();
      await expect(refuseUnprepared({ brokers: others }, prefix)).rejects.toMatchObject({ code: "ledger_unreachable", message: expect.stringContaining(`No Kafka broker answers at ${others.join(", ")}`) });
    } finally {
      silent.close();
    }
  });

  test("sees a Redis that evicts, one that is away, a Kafka that is away and a registry that is away", async () => {
    await apply("--partitions", "1");
    await askRedis(redis.port, "CONFIG SET maxmemory-policy allkeys-lru");
    expect((await doctor()).wrong).toEqual([{ name: "redis", ok: false, detail: expect.stringContaining("allkeys-lru"), fix: expect.stringContaining("CONFIG SET maxmemory-policy noeviction") }]);
    await askRedis(redis.port, "CONFIG SET maxmemory-policy noeviction");
    const away = await doctor({ LOOPLEDGER_REDIS_URL: "redis://127.0.0.1:1", LOOPLEDGER_REGISTRY_URL: "http://127.0.0.1:1", LOOPLEDGER_KAFKA_BROKERS: "127.0.0.1:1" });
    expect(away.code).toBe(1);
    expect(away.wrong.map(({ name }) => name)).toEqual(["kafka", "redis", "registry"]);
    for (const { detail, fix } of away.wrong) expect([fix, detail]).toEqual(['eval "$(loopledger infra up --ports free)"', expect.stringMatching(/LOOPLEDGER_(KAFKA_BROKERS|REDIS_URL|REGISTRY_URL) names it/)]);
  });
});
