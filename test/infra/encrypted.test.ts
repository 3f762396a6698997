/**
 * Kafka, Redis and the registry behind TLS, with an authority that nobody knows: processes work on them as without, what may not be
 * trusted is refused with what to mend, and no byte goes out in plain words.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { findKafka, findRedis, findRegistry, refuseUnprepared } from "@loopledger/infra/findings";
import type { SessionId } from "@loopledger/shared/core/brand";
import { statusTopic } from "@loopledger/shared/kafka";
import { openRegistrySchemas } from "@loopledger/shared/registry";
import { openRedisOwnership, openRedisReadModel } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { TopicLog } from "../../packages/shared/src/adapters/kafka/topic-log.ts";
import { removeKeys } from "../contract/redis-outside.ts";
import { makeLedgerTopic } from "../contract/kafka-topic.ts";
import { DeploymentUnderTest, patienceMs } from "../services/deployment.ts";
import { type Certificate, makeAuthority } from "../support/parts/certificates.ts";
import { makeTopics, type OwnKafka, ownKafka, type OwnRedis, ownRedis, registryUrl, uniquePrefix } from "../support/parts/parts.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 3 * patienceMs, hookTimeout: patienceMs });

const here = ["localhost", "127.0.0.1"];
const authority = makeAuthority("the shop's own");
const stranger = makeAuthority("somebody else's");
const identity = authority.issue("parts", { hosts: here });
const expired = authority.issue("parts", { hosts: here, days: -5 });
const elsewhere = authority.issue("parts", { hosts: ["kafka.example"] });
const client = authority.issue("olga");
const password = "Gq7vT2mXw9";
const tlsHello = 0x16;

const clock = createSystemClock();
const folder = mkdtempSync(join(tmpdir(), "loopledger-encrypted-"));
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
}
const files = { ca: file("ca.pem", authority.ca), other: file("other.pem", stranger.ca), cert: file("client.pem", client.cert), key: file("client.key", client.key) };

let kafka: OwnKafka;
let redis: OwnRedis;
let registry: { readonly port: number; readonly path: string; stop(): Promise<void> };
beforeAll(async () => {
  kafka = await ownKafka({ tls: [
    { name: "OPEN", identity }, { name: "MUTUAL", identity, clientsBy: authority.ca }, { name: "ASKS", identity, login: { username: "olga", password } },
    { name: "EXPIRED", identity: expired }, { name: "ELSEWHERE", identity: elsewhere },
  ] });
  redis = await ownRedis({ tls: { identity, ca: authority.ca, asksClients: true } });
  registry = await encryptedRegistry(identity);
});
afterAll(async () => {
  await registry.stop();
  await redis.stop();
  await kafka.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The run's registry behind TLS; clients have to show a certificate. */
async function encryptedRegistry({ cert, key }: Certificate): Promise<typeof registry> {
  const target = new URL(await registryUrl());
  const sockets = new Set<Socket>();
  const server: Server = createServer({ cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: true }, (inside) => {
    const outside = connectPlain(Number(target.port), target.hostname);
    for (const [one, other] of [[inside, outside], [outside, inside]] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    inside.pipe(outside).pipe(inside);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port, path: target.pathname.replace(/\/$/, ""),
    stop: () => new Promise((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    }),
  };
}

const entrance = (name: string) => {
  const found = kafka.tls.get(name);
  if (found === undefined) throw new Error(`There is no listener ${name}.`);
  return found;
};
/** What somebody may not reach, and what has to be told. */
interface Refused {
  readonly what: string;
  readonly tls: object | null;
  readonly detail: RegExp;
  readonly fix: RegExp;
}
const redisAt = (scheme: string, port: number): string => `${scheme}://127.0.0.1:${port}`;

describe("a deployment whose every connection is encrypted", () => {
  let shop: DeploymentUnderTest;
  let prefix: string;
  beforeAll(() => {
    prefix = uniquePrefix("encrypted");
    shop = new DeploymentUnderTest({
      name: "behind TLS", remove: () => removeKeys(redisAt("redis", redis.port), `${prefix}:*`),
      variables: {
        LOOPLEDGER_TOPIC_PREFIX: prefix, LOOPLEDGER_LOG_LEVEL: "debug",
        LOOPLEDGER_KAFKA_BROKERS: entrance("MUTUAL").brokers, LOOPLEDGER_KAFKA_TLS_CA_FILE: files.ca, LOOPLEDGER_KAFKA_TLS_CERT_FILE: files.cert, LOOPLEDGER_KAFKA_TLS_KEY_FILE: files.key,
        LOOPLEDGER_REDIS_URL: redisAt("rediss", redis.tlsPort), LOOPLEDGER_REDIS_TLS_CA_FILE: files.ca, LOOPLEDGER_REDIS_TLS_CERT_FILE: files.cert, LOOPLEDGER_REDIS_TLS_KEY_FILE: files.key,
        LOOPLEDGER_REGISTRY_URL: `https://localhost:${registry.port}${registry.path}`, LOOPLEDGER_REGISTRY_TLS_CA_FILE: files.ca,
        LOOPLEDGER_REGISTRY_TLS_CERT_FILE: files.cert, LOOPLEDGER_REGISTRY_TLS_KEY_FILE: files.key,
      },
    });
  });
  afterAll(() => shop.close());

  const done = (id: string): Promise<unknown> => until(async () => (await shop.view(id))?.disposition === "done", { what: `the end of ${id}`, timeoutMs: patienceMs });

  test("carries sessions from their goals to their ends, also when every connection breaks in between", async () => {
    expect(await shop.run("topics", "apply")).toMatchObject({ code: 0 });
    const services = (["scheduler", "worker", "checker", "projector", "intake"] as const).map((name) => shop.start(name));
    await Promise.all(services.map((one) => one.ready()));
    expect(await shop.run("submit", "goal.json", "--id", "first")).toMatchObject({ code: 0 });
    await done("first");
    const { proxy } = entrance("MUTUAL");
    const before = proxy.openings.length;
    proxy.cut();
    expect(await shop.run("submit", "goal.json", "--id", "second")).toMatchObject({ code: 0 });
    await done("second");
    expect(proxy.openings.length).toBeGreaterThan(before);
    expect(new Set(proxy.openings)).toEqual(new Set([tlsHello]));

    // On a busy machine a part may not answer within what doctor gives it.
    const names = await until(async () => {
      const looked = await shop.run("doctor", "--json");
      const { checks } = JSON.parse(looked.out) as { readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[] };
      expect(checks.filter(({ name, ok }) => !ok && /^(kafka|redis|registry|topic|subject)/.test(name))).toEqual([]);
      return checks.map(({ name }) => name);
    }, { what: "a doctor that finds every part", timeoutMs: patienceMs });
    expect(names).toEqual(expect.arrayContaining(["kafka", "redis", "registry", `topic ${prefix}.ledger`]));
    expect(await shop.run("dlq", "list")).toMatchObject({ code: 0 });

    const topic = await TopicLog.open({ connection: { brokers: entrance("OPEN").brokers.split(","), ssl: { ca: authority.ca } }, topic: statusTopic(prefix), clock });
    await until(async () => {
      const keys = new Set<string>();
      await topic.walk(({ key }) => void keys.add(String(key)));
      return keys.has("first") && keys.has("second");
    }, { what: "the statuses on their topic", timeoutMs: patienceMs });
    topic.close();
    for (const { out, err } of services) expect(out + err).not.toContain("PRIVATE KEY");
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ["Kafka", { LOOPLEDGER_KAFKA_TLS_CA_FILE: files.other }, /^loopledger: .*authority that is not trusted here.*\n {2}Put the certificate of its authority, as PEM, into the file that LOOPLEDGER_KAFKA_TLS_CA_FILE names/],
    ["Redis", { LOOPLEDGER_REDIS_TLS_CA_FILE: files.other }, /^loopledger: Redis at .*authority that is not trusted here.*\n {2}Put .*LOOPLEDGER_REDIS_TLS_CA_FILE names/m],
  ])("a service that trusts another authority for %s ends with 7 and says what to mend", async (_part, variables, told) => {
    const ended = await shop.start("scheduler", variables).ended;
    expect(ended).toMatchObject({ code: 7, out: "" });
    expect(ended.err).toMatch(told);
  });
});

test("a login goes over TLS, and with a wrong password it is the login that is told", async () => {
  const [prefix, ssl] = [uniquePrefix("asks"), { ca: authority.ca }];
  const connection = { brokers: entrance("ASKS").brokers.split(","), ssl };
  const found = await findKafka({ ...connection, sasl: { mechanism: "scram-sha-256", username: "olga", password } }, prefix);
  expect(found[0]).toMatchObject({ name: "kafka", ok: true });
  const refused = await findKafka({ ...connection, sasl: { mechanism: "plain", username: "olga", password: "another" } }, prefix);
  expect(refused).toMatchObject([{ ok: false, fix: expect.stringContaining("LOOPLEDGER_KAFKA_SASL_PASSWORD") }]);
  expect(JSON.stringify(refused)).not.toContain("another");
});

test("a ledger's own requests go over TLS, on both connections for appends, and again after all were cut", async () => {
  const { brokers, proxy } = entrance("OPEN");
  const topic = await makeLedgerTopic({ brokers: kafka.brokers });
  const ledger = await topic.open({ connection: { brokers: brokers.split(","), ssl: { ca: authority.ca } } });
  const text = "x".repeat(40 << 10);
  const ids = Array.from({ length: 8 }, (_, index) => `session-${index}` as SessionId);
  const round = (): Promise<unknown> => Promise.all(ids.map((id) => ledger.append(id, [text])));
  await round();
  const [alone, before] = [proxy.connections, proxy.openings.length];
  // A process that has nothing to do until the answers come shares its appends out on a second connection.
  const idle = (): number => performance.eventLoopUtilization().idle;
  const idleBefore = idle();
  proxy.hold();
  const late = round();
  await until(() => idle() - idleBefore > 200, { what: "a process that sits idle" });
  proxy.release();
  await late;
  await until(async () => {
    await Promise.all([round(), round()]);
    return proxy.connections > alone;
  }, { what: "a second connection for appends" });
  const between = proxy.openings.length;
  expect(between).toBeGreaterThan(before);
  proxy.cut();
  await Promise.all([round(), round()]);
  const [first = "" as SessionId] = ids;
  expect((await ledger.readSession(first)).filter(({ value }) => value === text).length).toBeGreaterThanOrEqual(4);
  expect(proxy.openings.length).toBeGreaterThan(between);
  expect(new Set(proxy.openings)).toEqual(new Set([tlsHello]));
  await topic.close();
});

describe("brokers that may not be trusted, or do not trust", () => {
  const lent = stranger.issue("olga");
  const old = authority.issue("olga", { days: -5 });
  const ca = authority.ca;
  test.each<Refused & { readonly at: string | null }>([
    { what: "an authority that nobody knows", at: "OPEN", tls: {}, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_KAFKA_TLS_CA_FILE/ },
    { what: "another authority", at: "OPEN", tls: { ca: stranger.ca }, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_KAFKA_TLS_CA_FILE/ },
    { what: "an old certificate", at: "EXPIRED", tls: { ca }, detail: /certificate that has expired/, fix: /valid today/ },
    { what: "a certificate for another host", at: "ELSEWHERE", tls: { ca }, detail: /certificate for another name: .*127\.0\.0\.1/, fix: /LOOPLEDGER_KAFKA_BROKERS .*advertised\.listeners/ },
    { what: "a client without a certificate", at: "MUTUAL", tls: { ca }, detail: /the broker (does not take|hung up)/, fix: /LOOPLEDGER_KAFKA_TLS_CERT_FILE .*LOOPLEDGER_KAFKA_TLS_KEY_FILE/ },
    { what: "a client of another authority", at: "MUTUAL", tls: { ca, ...lent }, detail: /the broker (does not take|hung up)/, fix: /LOOPLEDGER_KAFKA_TLS_CERT_FILE/ },
    { what: "a client whose time is over", at: "MUTUAL", tls: { ca, ...old }, detail: /the broker (does not take|hung up)/, fix: /LOOPLEDGER_KAFKA_TLS_CERT_FILE/ },
    { what: "plain words to a port with TLS", at: "OPEN", tls: null, detail: /speaks TLS on that port/, fix: /LOOPLEDGER_KAFKA_TLS=true/ },
    { what: "TLS to a port without", at: null, tls: { ca }, detail: /hung up before it had answered to TLS/, fix: /unset LOOPLEDGER_KAFKA_TLS/ },
  ])("$what: doctor and a service that starts say so", async ({ at, tls, detail, fix }) => {
    const connection = { brokers: (at === null ? kafka.brokers : entrance(at).brokers).split(","), ssl: tls };
    const prefix = uniquePrefix("refused");
    expect(await findKafka(connection, prefix)).toMatchObject([{ name: "kafka", ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) }]);
    await expect(refuseUnprepared(connection, prefix)).rejects.toMatchObject({ code: "ledger_unreachable", message: expect.stringMatching(detail), next: expect.stringMatching(fix) });
  });

  test("what was made beside it is reached with all that is asked for", async () => {
    const prefix = uniquePrefix("let-in");
    await makeTopics(prefix, { brokers: kafka.brokers });
    await refuseUnprepared({ brokers: entrance("MUTUAL").brokers.split(","), ssl: { ca, ...client } }, prefix);
  });
});

describe("a Redis that may not be trusted, or does not trust", () => {
  const ca = authority.ca;
  let late: OwnRedis;
  let foreign: OwnRedis;
  beforeAll(async () => {
    [late, foreign] = await Promise.all([ownRedis({ tls: { identity: expired, ca } }), ownRedis({ tls: { identity: elsewhere, ca } })]);
  });
  afterAll(() => Promise.all([late.stop(), foreign.stop()]));
  const mine = (): string => redisAt("rediss", redis.tlsPort);

  test.each<Refused & { readonly url: () => string }>([
    { what: "an authority that nobody knows", url: mine, tls: null, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_REDIS_TLS_CA_FILE/ },
    { what: "another authority", url: mine, tls: { ca: stranger.ca }, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_REDIS_TLS_CA_FILE/ },
    { what: "an old certificate", url: () => redisAt("rediss", late.tlsPort), tls: { ca }, detail: /certificate that has expired/, fix: /valid today/ },
    { what: "a certificate for another host", url: () => redisAt("rediss", foreign.tlsPort), tls: { ca }, detail: /certificate for another name/, fix: /LOOPLEDGER_REDIS_URL/ },
    { what: "a client without a certificate", url: mine, tls: { ca }, detail: /Redis (does not take|hung up)/, fix: /LOOPLEDGER_REDIS_TLS_CERT_FILE/ },
    { what: "a client of another authority", url: mine, tls: { ca, ...stranger.issue("olga") }, detail: /Redis (does not take|hung up)/, fix: /LOOPLEDGER_REDIS_TLS_CERT_FILE/ },
    { what: "plain words to a port with TLS", url: () => redisAt("redis", redis.tlsPort), tls: null, detail: /hung up before its first answer/, fix: /rediss:\/\/ in LOOPLEDGER_REDIS_URL/ },
    { what: "TLS to a port without", url: () => redisAt("rediss", redis.port), tls: { ca }, detail: /(does not answer to|hung up before it had answered to|not with) TLS/, fix: /redis:\/\/ in LOOPLEDGER_REDIS_URL/ },
  ])("$what: doctor and whoever needs its views say so", async ({ url, tls, detail, fix }) => {
    const hidden = url().replace("://", "://olga:s3cr3t-of-hers@");
    const found = await findRedis(hidden, tls);
    expect(found).toMatchObject({ name: "redis", ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) });
    const told: unknown[] = [];
    const options = { url: hidden, tls, clock, log: { warn: (...words: unknown[]) => void told.push(words) }, prefix: uniquePrefix("refused") };
    const refused = await openRedisReadModel({ ...options, ledgerId: "l" }).then(() => null, (error: unknown) => error);
    expect(refused).toMatchObject({ code: "views_unreachable", message: expect.stringMatching(detail), next: expect.stringMatching(fix) });
    expect(JSON.stringify([found, told, String(refused)])).not.toContain("s3cr3t");
  });

  test("leases that no trying again would bring are refused at the start; a Redis that is only away is not", async () => {
    const options = { clock, log: { warn: () => undefined }, prefix: uniquePrefix("refused") };
    await expect(openRedisOwnership({ ...options, url: mine(), tls: { ca: stranger.ca } })).rejects.toMatchObject({ code: "views_unreachable", next: expect.stringContaining("LOOPLEDGER_REDIS_TLS_CA_FILE") });
    const away = await openRedisOwnership({ ...options, url: "rediss://127.0.0.1:1", tls: { ca } });
    await away.close();
  });
});

describe("a registry that may not be trusted, or does not trust", () => {
  const ca = authority.ca;
  test.each<Refused & { readonly scheme: string }>([
    { what: "an authority that nobody knows", scheme: "https", tls: null, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_REGISTRY_TLS_CA_FILE/ },
    { what: "another authority", scheme: "https", tls: { ca: stranger.ca }, detail: /authority that is not trusted here/, fix: /LOOPLEDGER_REGISTRY_TLS_CA_FILE/ },
    { what: "a client without a certificate", scheme: "https", tls: { ca }, detail: /the registry (does not take|hung up)/, fix: /LOOPLEDGER_REGISTRY_TLS_CERT_FILE/ },
    { what: "plain words to a port with TLS", scheme: "http", tls: null, detail: /hung up before its first answer/, fix: /https:\/\/ in LOOPLEDGER_REGISTRY_URL/ },
  ])("$what: doctor says so", async ({ scheme, tls, detail, fix }) => {
    expect(await findRegistry({ url: `${scheme}://127.0.0.1:${registry.port}${registry.path}`, tls }, uniquePrefix("r"))).toMatchObject([{ name: "registry", ok: false, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) }]);
  });

  test("a record that is written or read waits for it with the same words: it is not taken for one whose schema is not registered", async () => {
    const url = `https://127.0.0.1:${registry.port}${registry.path}`;
    const trusting = openRegistrySchemas({ url, tls: { ca: stranger.ca }, clock, log: { warn: () => undefined } });
    const refused = { code: "registry_unreachable", message: expect.stringMatching(/authority that is not trusted here/), next: expect.stringMatching(/LOOPLEDGER_REGISTRY_TLS_CA_FILE/) };
    await expect(trusting.encode("any.ledger", "{}")).rejects.toMatchObject(refused);
    await expect(trusting.decode("any.ledger", Buffer.from([0, 0, 0, 0, 9, 0x7b, 0x7d]))).rejects.toMatchObject(refused);
    // What the registry itself refuses stays an answer.
    const known = openRegistrySchemas({ url, tls: { ca, ...client }, clock, log: { warn: () => undefined } });
    await expect(known.encode(`${uniquePrefix("r")}.ledger`, "{}")).rejects.toMatchObject({ code: "schema_unpublished" });
  });

  test("TLS to a port without says so", async () => {
    const plain = (await registryUrl()).replace("http:", "https:");
    expect(await findRegistry({ url: plain, tls: { ca } }, uniquePrefix("r"))).toMatchObject([{ ok: false, detail: expect.stringMatching(/(not with TLS|hung up before it had answered to TLS)/), fix: expect.stringMatching(/http:\/\/ in LOOPLEDGER_REGISTRY_URL/) }]);
  });
});
