/** Read models on Redis, beside a deployment that runs: made, compared, taken into use and dropped by command, and there again after Redis lost all. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Variables, patienceMs, Workshop } from "../cli/workshop.ts";
import { sendTo } from "../contract/redis-outside.ts";
import { kafkaBrokers, type OwnRedis, ownRedis, removeTopics, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

let shop: Workshop;
let redis: OwnRedis;
let environment: Variables;
let port = "";
const prefix = uniquePrefix("projections");

async function command(...words: string[]): Promise<{ readonly code: number | string; readonly rows: readonly Record<string, unknown>[]; readonly err: string }> {
  const { code, out, err } = await shop.start([...words, "--json"], environment).ended;
  const rows = words.includes("ls") ? out.split("\n").filter(Boolean) : [out].filter(Boolean);
  return { code, rows: rows.map((row) => JSON.parse(row) as Record<string, unknown>), err };
}
const names = async (): Promise<unknown[]> => (await command("projections", "ls")).rows.map(({ name, active }) => [name, active]);
const view = (projection: string, id: string): Promise<unknown> => sendTo(redis.url, "GET", `${prefix}:${projection}:session:${id}`);
const shows = (projection: string, id: string): Promise<unknown> => until(async () => String(await view(projection, id)).includes('"disposition":"done"'), { what: `the view of ${id} in ${projection}`, timeoutMs: patienceMs });
async function carry(id: string): Promise<void> {
  shop.write("goal.json", JSON.stringify({ id, goal: "A file", maker: "m", check: "c", policy: { failureFirst: false } }));
  const { code, err } = await command("submit", "goal.json", "--wait");
  if (code !== 0) throw new Error(err);
}

beforeAll(async () => {
  shop = new Workshop();
  redis = await ownRedis();
  shop.write("loopledger.config.json", JSON.stringify({ makers: { m: { exec: ["touch", "made"] } }, checks: { c: { exec: ["test", "-f", "made"] } } }));
  environment = { LOOPLEDGER_KAFKA_BROKERS: await kafkaBrokers(), LOOPLEDGER_REDIS_URL: redis.url, LOOPLEDGER_TOPIC_PREFIX: prefix };
  expect(await shop.start(["topics", "apply", "--partitions", "3"], environment).ended).toMatchObject({ code: 0 });
  const served = shop.start(["serve", "--roles", "scheduler,worker,checker,projector", "--port", "0", "--json"], environment);
  port = String(await until(() => /"port": (\d+)/.exec(served.out())?.[1], { what: "the deployment to take work", timeoutMs: patienceMs }));
});
afterAll(async () => {
  await shop.close();
  await redis.stop();
  await removeTopics(prefix);
});

test("one is made, compared, taken into use, written from then on, and the other one dropped", async () => {
  await carry("first");
  await shows("main", "first");
  expect(await names()).toEqual([["main", true]]);
  expect(await command("projections", "create", "fresh")).toMatchObject({ code: 0, rows: [{ name: "fresh", created: true }] });
  expect(await command("projections", "create", "fresh")).toMatchObject({ code: 2 });
  expect(await command("projections", "compare", "fresh")).toMatchObject({ code: 0, rows: [{ equal: true, sessions: 1, differing: [] }] });
  expect(await view("fresh", "first")).toBe(await view("main", "first"));
  expect(await command("projections", "drop", "main")).toMatchObject({ code: 2 });
  expect(await command("projections", "use", "fresh")).toMatchObject({ code: 0 });
  expect(await names()).toEqual([["fresh", true], ["main", false]]);
  await carry("second");
  await shows("fresh", "second");
  expect(await command("projections", "drop", "main")).toMatchObject({ code: 0 });
  expect(await names()).toEqual([["fresh", true]]);
  expect(await sendTo(redis.url, "KEYS", `${prefix}:main:*`)).toEqual([]);
  expect(await command("status", "second")).toMatchObject({ code: 0, rows: [{ disposition: "done" }] });
});

test("one that was changed by hand is found by compare", async () => {
  await command("projections", "create", "touched");
  const key = `${prefix}:touched:session:first`;
  await sendTo(redis.url, "SET", key, String(await sendTo(redis.url, "GET", key)).replace('"disposition":"done"', '"disposition":"failed"'));
  expect(await command("projections", "compare", "touched")).toMatchObject({ code: 1, rows: [{ equal: false, differing: ["first"] }] });
});

test("a Redis that was emptied under a running projector is filled again by itself, and equals the ledger", async () => {
  expect(await sendTo(redis.url, "FLUSHALL")).toBe("OK");
  for (const id of ["first", "second"]) await shows("main", id);
  expect(await command("projections", "compare")).toMatchObject({ code: 0, rows: [{ equal: true, sessions: 2, differing: [] }] });
  await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200, { what: "readiness", timeoutMs: patienceMs });
  await carry("third");
  await shows("main", "third");
  expect(await names()).toEqual([["main", true]]);
});
