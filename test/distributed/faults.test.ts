/** Faults under a running fleet, each seen to have happened, and judged by the audit on the dump. */
import { afterEach, expect, test, vi } from "vitest";
import { sendTo } from "../contract/redis-outside.ts";
import type { ServiceProcess } from "../services/deployment.ts";
import { type OwnKafka, makeTopics, ownKafka, ownRedis } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";
import { distributedGrounds } from "../support/worlds/distributed-grounds.ts";
import type { Grounds } from "../support/worlds/grounds.ts";
import { Fleet, type Wanted, patienceMs } from "./fleet.ts";
import { auditOf, miscounted } from "./judging.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
async function fleetOn(grounds: Grounds): Promise<Fleet> {
  const fleet = await Fleet.open(grounds);
  closing.push(() => fleet.close());
  return fleet;
}
const waitFor = (what: string, condition: () => unknown): Promise<unknown> => until(condition, { what, timeoutMs: patienceMs });
const submitMany = async (fleet: Fleet, count: number, iterations = 4): Promise<void> => {
  for (let index = 0; index < count; index++) await fleet.submit(`s-${index}`, { door: index % 2 === 0 ? "fenced" : "idempotent", iterations, stepMs: 150 });
};
const stepsFrom = (fleet: Fleet, from: number, count: number): Promise<unknown> => waitFor(`${count} steps more`, () => fleet.watch.steps.length >= from + count);
/** The name that a Redis gives itself at each start. */
const startOf = async (url: string): Promise<string | undefined> => /^run_id:(\w+)/m.exec(String(await sendTo(url, "INFO", "server")))?.[1];
async function sound(fleet: Fleet, views = true): Promise<void> {
  await fleet.allDone();
  expect(miscounted(fleet)).toEqual([]);
  expect((await auditOf(fleet, { views })).violations).toEqual([]);
}

test("F51 F55 Redis is emptied, killed, away for ten seconds and back empty under live holders: nothing stops, nothing happens twice", async () => {
  const redis = await ownRedis();
  closing.push(() => redis.stop());
  const grounds = await distributedGrounds("redis-dies");
  const fleet = await fleetOn({ ...grounds, variables: { ...grounds.variables, LOOPLEDGER_REDIS_URL: redis.url } });
  const started = await fleet.launchAll(["worker", "worker", "checker", "scheduler", "projector"]);
  await submitMany(fleet, 20, 8);
  await stepsFrom(fleet, 0, 20);
  const first = await startOf(redis.url);
  const keys = Number(await sendTo(redis.url, "DBSIZE"));
  expect(await sendTo(redis.url, "FLUSHALL")).toBe("OK");
  expect(keys).toBeGreaterThan(4);
  await stepsFrom(fleet, fleet.watch.steps.length, 20);
  await redis.kill();
  const killedAt = performance.now();
  await expect(sendTo(redis.url, "PING")).rejects.toThrow();
  // Owners go on, and what nobody owns is claimed.
  await stepsFrom(fleet, fleet.watch.steps.length, 11);
  await waitFor("ten seconds without Redis", () => performance.now() - killedAt > 10_000);
  await redis.restart();
  await sound(fleet);
  expect(started.filter((one) => one.isOver)).toEqual([]);
  expect(await startOf(redis.url)).not.toBe(first);
});

test("F11 a worker that is stopped beyond its lease finishes nothing: another one does, and what the first writes when it wakes is void and shown", async () => {
  const fleet = await fleetOn(await distributedGrounds("stopped"));
  const [, , , first] = [...(await fleet.launchAll(["checker", "scheduler", "projector"])), fleet.launch("worker", { LOOPLEDGER_FAILPOINTS: "worker.before_built=stop" })] as const;
  await (first as ServiceProcess).ready();
  await fleet.submit("late", { door: "fenced" });
  await waitFor("the stop", () => (first as ServiceProcess).err.includes("failpoint worker.before_built fired"));
  const stoppedEpoch = fleet.watch.state("late")?.epoch;
  await fleet.launch("worker").ready();
  await fleet.allDone();
  expect(fleet.watch.state("late")?.epoch).toBeGreaterThan(stoppedEpoch ?? 0);
  (first as ServiceProcess).kill("SIGCONT");
  await waitFor("the late record", () => fleet.watch.voids.get("built stale_epoch") ?? fleet.watch.voids.get("built after_end"));
  await sound(fleet);
  expect((await fleet.run("events", "late", "--void")).out).toMatch(/built/);
});

test("F30 F33 a broker that dies in the midst of steps, and an answer to a produce that never comes, cost time and nothing else", async () => {
  const kafka = await ownKafka({ proxied: true });
  closing.push(() => kafka.stop());
  const fleet = await fleetOn(await groundsOn(kafka));
  const watched = { LOOPLEDGER_KAFKA_BROKERS: kafka.proxiedBrokers };
  const started = [...(await fleet.launchAll(["worker"], watched)), ...(await fleet.launchAll(["checker", "scheduler", "projector"]))];
  await submitMany(fleet, 12, 6);
  await stepsFrom(fleet, 0, 10);
  // The worker's own answer is lost, and it sends the same bytes again.
  const [proxy] = kafka.proxies;
  const voids = (): number => [...fleet.watch.voids.values()].reduce((sum, count) => sum + count, 0);
  const before = voids();
  const swallowed = await proxy?.swallow("Produce");
  expect(swallowed).toMatchObject({ api: "Produce" });
  await waitFor("the record that came twice", () => voids() > before);
  const from = fleet.watch.steps.length;
  await kafka.kill();
  await expect(fleet.engine.ledger.end()).rejects.toThrow();
  await kafka.restart();
  await stepsFrom(fleet, from, 5);
  await sound(fleet);
  expect(started.filter((one) => one.isOver)).toEqual([]);
});

test("F27 the readers of the goals topic change in the midst of steps: each goal is one session, taken in by whoever has its partition then", async () => {
  const fleet = await fleetOn(await distributedGrounds("rebalance"));
  const first = fleet.launch("intake");
  await fleet.launchAll(["worker", "checker", "scheduler", "projector"]);
  await first.ready();
  const wanted: Wanted = { door: "idempotent", iterations: 2, stepMs: 200 };
  const put = (from: number, to: number): Promise<void> => fleet.put(Array.from({ length: to - from }, (_, index) => `s-${from + index}`), () => wanted);
  const goalsOf = async (one: ServiceProcess): Promise<number> => Number(/^loopledger_intake_goals_total (\d+)$/m.exec((await one.text("/metrics")).body)?.[1]);
  await put(0, 20);
  await stepsFrom(fleet, 0, 5);
  const second = fleet.launch("intake");
  await second.ready();
  for (let count = 20; (await goalsOf(second)) === 0; count += 6) {
    expect(count).toBeLessThan(200);
    await put(count, count + 6);
    await waitFor("the goals", () => [...fleet.submitted.keys()].every((id) => fleet.watch.state(id)));
  }
  // The second had partitions; the first one's come to it when that one is gone.
  const count = fleet.submitted.size;
  await put(count, count + 10);
  first.kill("SIGKILL");
  await first.ended;
  await put(count + 10, count + 20);
  await sound(fleet);
  expect(await goalsOf(second)).toBeGreaterThanOrEqual(10);
});

async function groundsOn(kafka: OwnKafka): Promise<Grounds> {
  const grounds = await distributedGrounds("own-kafka");
  await makeTopics(grounds.variables["LOOPLEDGER_TOPIC_PREFIX"] ?? "", { brokers: kafka.brokers });
  return { ...grounds, variables: { ...grounds.variables, LOOPLEDGER_KAFKA_BROKERS: kafka.brokers } };
}
