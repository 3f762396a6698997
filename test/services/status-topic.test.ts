/** Where the status topic alone is out of reach: the projector's process behind a proxy that lets no record through. */
import { statusTopic } from "@loopledger/shared/kafka";
import { createSystemClock } from "@loopledger/shared/system";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TopicLog } from "../../packages/shared/src/adapters/kafka/topic-log.ts";
import { removeKeys } from "../contract/redis-outside.ts";
import { makeTopics, type OwnKafka, ownKafka, redisUrl, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { DeploymentUnderTest, patienceMs } from "./deployment.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });
const prefix = uniquePrefix("status");
let [kafka, deployed, topic]: [OwnKafka | null, DeploymentUnderTest | null, TopicLog | null] = [null, null, null];

beforeAll(async () => {
  kafka = await ownKafka({ proxied: true });
  const redis = await redisUrl();
  await makeTopics(prefix, { brokers: kafka.brokers });
  deployed = new DeploymentUnderTest({
    name: "a Kafka of its own", variables: { LOOPLEDGER_KAFKA_BROKERS: kafka.brokers, LOOPLEDGER_REDIS_URL: redis, LOOPLEDGER_TOPIC_PREFIX: prefix },
    remove: () => removeKeys(redis, `${prefix}:*`),
  });
  topic = await TopicLog.open({ connection: { brokers: kafka.brokers.split(",") }, topic: statusTopic(prefix), clock: createSystemClock() });
});
afterAll(async () => {
  topic?.close();
  await deployed?.close();
  await kafka?.stop();
});

const opened = () => {
  if (kafka === null || deployed === null || topic === null) throw new Error("The parts are not there.");
  return { kafka, deployed, topic };
};
/** The sessions on the topic now, with the seq that their last status stands at. */
async function onTopic(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  await opened().topic.walk(({ key, value }) => void found.set(String(key), (JSON.parse(String(value)) as { readonly asOf: number }).asOf));
  return found;
}
const submit = async (id: string): Promise<void> => expect(await opened().deployed.run("submit", "goal.json", "--id", id)).toMatchObject({ code: 0 });
const untilShown = (id: string): Promise<unknown> => until(() => opened().deployed.view(id), { what: `the view of ${id}`, timeoutMs: patienceMs });
const untilOnTopic = (id: string): Promise<unknown> => until(async () => {
  const view = await opened().deployed.view(id);
  return view !== null && (await onTopic()).get(id) === view.asOf;
}, { what: `${id} on the topic`, timeoutMs: patienceMs });

test("views go on, readiness tells the name, and afterwards the topic has what it missed", async () => {
  const { kafka: { proxiedBrokers, proxies }, deployed: services } = opened();
  await submit("before");
  const projector = services.start("projector", { LOOPLEDGER_KAFKA_BROKERS: proxiedBrokers });
  await untilOnTopic("before");
  for (const proxy of proxies) void proxy.drop("Produce", Number.POSITIVE_INFINITY);
  for (const id of ["first", "second"]) await submit(id);
  for (const id of ["first", "second"]) await untilShown(id);
  await until(async () => (JSON.parse((await projector.text("/readyz")).body) as { readonly faults: readonly string[] }).faults.join() === "projector.feed", { what: "the name in readiness", timeoutMs: patienceMs });
  await submit("third");
  await untilShown("third");
  expect([...(await onTopic()).keys()]).toEqual(["before"]);
  expect(projector.isOver).toBe(false);
  for (const proxy of proxies) {
    proxy.clear();
    proxy.cut();
  }
  for (const id of ["first", "second", "third"]) await untilOnTopic(id);
  await until(async () => (await projector.text("/readyz")).status === 200, { what: "readiness", timeoutMs: patienceMs });
});
