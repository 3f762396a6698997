/** The status topic on a real Kafka, written by a projector that is killed, imitated and robbed of its topic. */
import { connectKafka, openTopicWriter } from "@loopledger/shared/kafka";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Ended, type Running, type Variables, patienceMs, Workshop } from "../cli/workshop.ts";
import { removeKeys, sendTo } from "../contract/redis-outside.ts";
import { kafkaBrokers, redisUrl, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let shop: Workshop;
let prefix: string;
let environment: Variables;
beforeEach(async () => {
  shop = new Workshop();
  prefix = uniquePrefix("statuses");
  environment = { LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers(), LOOPLEDGER_REDIS_URL: await redisUrl(), LOOPLEDGER_TOPIC_PREFIX: prefix };
  shop.write("loopledger.config.json", JSON.stringify({ makers: { m: { exec: ["touch", "made"] } }, checks: { c: { exec: ["test", "-f", "made"] } } }));
  expect(await command("topics", "apply", "--partitions", "3")).toMatchObject({ code: 0 });
});
afterEach(async () => {
  await shop.close();
  await removeTopics(prefix);
  await removeKeys(await redisUrl(), `${prefix}:*`);
});

const command = (...words: string[]): Promise<Ended> => shop.start(words, environment).ended;
async function serve(roles: string, more: Variables = {}): Promise<Running> {
  const served = shop.start(["serve", "--roles", roles, "--port", "0"], { ...environment, ...more });
  await until(() => /^ready$/m.test(served.out()) || served.process.exitCode !== null || served.process.signalCode !== null, { what: `${roles} to take work: ${served.err()}`, timeoutMs: patienceMs });
  return served;
}
async function carry(id: string): Promise<void> {
  shop.write("goal.json", JSON.stringify({ id, goal: "A file", maker: "m", check: "c", policy: { failureFirst: false } }));
  const { code, err } = await command("submit", "goal.json", "--wait");
  if (code !== 0) throw new Error(err);
}
const viewOf = async (id: string): Promise<string> => String(await sendTo(await redisUrl(), "GET", `${prefix}:main:session:${id}`));

interface Fed { readonly value: string; readonly position: string }
/** Every record on the topic, by key, in order. */
async function readTopic(): Promise<ReadonlyMap<string, readonly Fed[]>> {
  const kafka = connectKafka({ brokers: (await kafkaBrokers()).split(",") });
  const [consumer, admin] = [kafka.consumer({ groupId: uniquePrefix("reader"), allowAutoTopicCreation: false }), kafka.admin()];
  await Promise.all([consumer.connect(), admin.connect()]);
  const ends = await admin.fetchTopicOffsets(`${prefix}.status`);
  const missing = new Map(ends.filter(({ low, high }) => Number(high) > Number(low)).map(({ partition, high }) => [partition, Number(high)]));
  const found = new Map<string, Fed[]>();
  await consumer.subscribe({ topics: [`${prefix}.status`], fromBeginning: true });
  if (missing.size > 0) {
    await consumer.run({ autoCommit: false, eachMessage: async ({ partition, message: { key, value, headers, offset } }) => {
      const id = String(key);
      found.set(id, [...(found.get(id) ?? []), { value: String(value), position: String(headers?.["position"] ?? "") }]);
      if (Number(offset) + 1 >= (missing.get(partition) ?? 0)) missing.delete(partition);
    } });
    await until(() => missing.size === 0, { what: "the topic's end", timeoutMs: 60_000 });
  }
  await Promise.all([consumer.disconnect(), admin.disconnect()]);
  return found;
}
const lastIsView = (id: string): Promise<unknown> => until(async () => {
  const [last, view] = [(await readTopic()).get(id)?.at(-1)?.value, await viewOf(id)];
  return last !== undefined && last === view;
}, { what: `the status of ${id} on the topic`, timeoutMs: patienceMs });

test("a projector that is killed between the topic and the views leaves the topic as new as its successor's views", async () => {
  await serve("scheduler,worker,checker");
  const killed = await serve("projector", { LOOPLEDGER_FAILPOINTS: "projector.before_write=kill@2" });
  await carry("one");
  await until(() => killed.process.signalCode === "SIGKILL", { what: "the projector's end", timeoutMs: patienceMs });
  await serve("projector");
  await lastIsView("one");
  expect(await viewOf("one")).toContain('"disposition":"done"');
});

test("an older status that somebody puts last is written over within seconds", async () => {
  await serve("scheduler,worker,checker,projector");
  await carry("one");
  await lastIsView("one");
  const records = (await readTopic()).get("one") ?? [];
  const [old] = records;
  if (old === undefined) throw new Error("There is no record.");
  const stale = old.value === records.at(-1)?.value ? old.value.replace('"disposition":"done"', '"disposition":"running"') : old.value;
  const writer = await openTopicWriter({ connection: { brokers: (await kafkaBrokers()).split(",") }, topic: `${prefix}.status`, clock: createSystemClock(), ids: createSystemIds() });
  await writer.write([{ key: "one", value: stale, headers: { type: "status", position: old.position } }]);
  await writer.close();
  await lastIsView("one");
  const after = (await readTopic()).get("one") ?? [];
  expect(after.slice(0, -1).map(({ value }) => value)).toContain(stale);
});

test("a topic that was deleted and made anew is filled again, and the views go on", async () => {
  await serve("scheduler,worker,checker,projector");
  await carry("one");
  await lastIsView("one");
  const admin = await openKafkaAdmin({ brokers: (await kafkaBrokers()).split(",") });
  await admin.remove([`${prefix}.status`]);
  await until(async () => !(await admin.list()).includes(`${prefix}.status`), { what: "the topic to be gone", timeoutMs: patienceMs });
  await admin.close();
  expect(await command("topics", "apply")).toMatchObject({ code: 0 });
  await lastIsView("one");
  await carry("two");
  await lastIsView("two");
});
