/** What is known of encrypted connections before one is made. What is wrong with a file is told by its variable and its path, never by what it holds. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { readDistributed } from "@loopledger/composition/settings/distributed";
import { findKafka, findRedis, findRegistry } from "@loopledger/infra/findings";
import type { InvalidSettings } from "@loopledger/shared/runtime/config";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { lockedKey, makeAuthority } from "../support/parts/certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "loopledger-certificates-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const authority = makeAuthority("the shop's own");
const [olga, uma] = [authority.issue("olga"), authority.issue("uma")];
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
}
const ca = file("ca.pem", authority.ca);
const cert = file("olga.pem", olga.cert);
const key = file("olga.key", olga.key);
const kafka = { LOOPLEDGER_KAFKA_BROKERS: "one:9093", LOOPLEDGER_REDIS_URL: "rediss://r:6380", LOOPLEDGER_REGISTRY_URL: "https://registry:8081" };

function faultsOf(given: Record<string, string>): readonly string[] {
  try {
    readDistributed({ ...kafka, ...given });
  } catch (error) {
    return (error as InvalidSettings).faults;
  }
  return [];
}

test("each part has its own certificates, and TLS with none of them trusts what Node does", () => {
  const named = (part: string) => ({ [`LOOPLEDGER_${part}_TLS_CA_FILE`]: ca, [`LOOPLEDGER_${part}_TLS_CERT_FILE`]: cert, [`LOOPLEDGER_${part}_TLS_KEY_FILE`]: key });
  const texts = { ca: authority.ca, cert: olga.cert, key: olga.key };
  expect(readDistributed({ ...kafka, ...named("KAFKA"), ...named("REDIS"), ...named("REGISTRY") })).toMatchObject({ tls: texts, redisTls: texts, registryTls: texts });
  expect(readDistributed({ ...kafka, LOOPLEDGER_KAFKA_TLS: "true" })).toMatchObject({ tls: {}, redisTls: null, registryTls: null });
});
test("a certificate and its key may lie in one file, with what else belongs to them", () => {
  const both = file("both.pem", `of olga\n${olga.cert}${authority.ca}${olga.key}`);
  expect(faultsOf({ LOOPLEDGER_KAFKA_TLS_CERT_FILE: both, LOOPLEDGER_KAFKA_TLS_KEY_FILE: both })).toEqual([]);
});

describe("what cannot be right", () => {
  const broken = authority.ca.replace(/\n.{64}\n/, "\n");
  test.each<[string, Record<string, string>, RegExp]>([
    ["a file that is not there", { LOOPLEDGER_KAFKA_TLS_CA_FILE: "/no/such/ca.pem" }, /^LOOPLEDGER_KAFKA_TLS_CA_FILE: \/no\/such\/ca\.pem cannot be read: ENOENT/],
    ["a folder", { LOOPLEDGER_REDIS_TLS_CA_FILE: folder }, /^LOOPLEDGER_REDIS_TLS_CA_FILE: .* cannot be read: EISDIR/],
    ["a file of another kind", { LOOPLEDGER_REGISTRY_TLS_CA_FILE: file("ca.der", "0\u0082\u0001") }, /^LOOPLEDGER_REGISTRY_TLS_CA_FILE: .*ca\.der holds no PEM/],
    ["a key in place of a certificate", { LOOPLEDGER_KAFKA_TLS_CA_FILE: key }, /^LOOPLEDGER_KAFKA_TLS_CA_FILE: .*olga\.key holds no certificate$/],
    ["a damaged certificate", { LOOPLEDGER_KAFKA_TLS_CA_FILE: file("two.pem", authority.ca + broken) }, /^LOOPLEDGER_KAFKA_TLS_CA_FILE: .*two\.pem: its certificate 2 of 2 cannot be read$/],
    ["a certificate in place of a key", { LOOPLEDGER_KAFKA_TLS_CERT_FILE: cert, LOOPLEDGER_KAFKA_TLS_KEY_FILE: cert }, /^LOOPLEDGER_KAFKA_TLS_KEY_FILE: .*olga\.pem holds no private key$/],
    ["a key behind a password", { LOOPLEDGER_KAFKA_TLS_CERT_FILE: cert, LOOPLEDGER_KAFKA_TLS_KEY_FILE: file("locked.key", lockedKey(olga, "s3cr3t")) }, /^LOOPLEDGER_KAFKA_TLS_KEY_FILE: .*locked\.key: its key is behind a password; .*openssl pkey/],
    ["somebody else's key", { LOOPLEDGER_REDIS_TLS_CERT_FILE: cert, LOOPLEDGER_REDIS_TLS_KEY_FILE: file("uma.key", uma.key) }, /^LOOPLEDGER_REDIS_TLS_KEY_FILE: it is not the key of the certificate in LOOPLEDGER_REDIS_TLS_CERT_FILE$/],
    ["a certificate without its key", { LOOPLEDGER_REDIS_TLS_CERT_FILE: cert }, /^LOOPLEDGER_REDIS_TLS_KEY_FILE: it is missing/],
    ["a key without its certificate", { LOOPLEDGER_REGISTRY_TLS_KEY_FILE: key }, /^LOOPLEDGER_REGISTRY_TLS_CERT_FILE: it is missing/],
    ["TLS that is turned off and meant", { LOOPLEDGER_KAFKA_TLS: "false", LOOPLEDGER_KAFKA_TLS_CA_FILE: ca }, /^LOOPLEDGER_KAFKA_TLS_CA_FILE: it means TLS, and LOOPLEDGER_KAFKA_TLS is false/],
    ["certificates for plain words to Redis", { LOOPLEDGER_REDIS_URL: "redis://r:6379", LOOPLEDGER_REDIS_TLS_CA_FILE: ca }, /^LOOPLEDGER_REDIS_TLS_CA_FILE: .*write rediss:\/\/ there/],
    ["certificates for plain words to the registry", { LOOPLEDGER_REGISTRY_URL: "http://r", LOOPLEDGER_REGISTRY_TLS_CA_FILE: ca }, /^LOOPLEDGER_REGISTRY_TLS_CA_FILE: .*write https:\/\/ there/],
    ["certificates for no registry", { LOOPLEDGER_REGISTRY_URL: undefined as unknown as string, LOOPLEDGER_REGISTRY_TLS_CA_FILE: ca }, /^LOOPLEDGER_REGISTRY_TLS_CA_FILE: it means nothing without LOOPLEDGER_REGISTRY_URL/],
    ["certificates without Kafka", { LOOPLEDGER_KAFKA_BROKERS: undefined as unknown as string, LOOPLEDGER_REDIS_TLS_CA_FILE: ca }, /LOOPLEDGER_KAFKA_BROKERS: it is missing; .*LOOPLEDGER_REDIS_TLS_CA_FILE/],
  ])("%s", (_what, given, fault) => {
    expect(faultsOf(given)).toEqual(expect.arrayContaining([expect.stringMatching(fault)]));
  });
  test.each([
    ["with its frame", olga.key], ["without", olga.key.replace(/-----.*-----\n/g, "")], ["in one line", olga.key.replace(/-----.*-----|\n/g, "")],
  ])("a key that was written into the variable itself, %s, is not told again", (_how, text) => {
    const faults = faultsOf({ LOOPLEDGER_KAFKA_TLS_CERT_FILE: cert, LOOPLEDGER_KAFKA_TLS_KEY_FILE: text });
    expect(faults).toEqual(["LOOPLEDGER_KAFKA_TLS_KEY_FILE: it holds a certificate or key itself; it has to be the path of a file that holds it"]);
  });
});

describe("the beginning of TLS", () => {
  const named: unknown[] = [];
  let port = 0;
  const server = createServer(authority.issue("parts", { hosts: ["localhost"] }), (socket) => {
    named.push((socket as { readonly servername?: unknown }).servername);
    socket.destroy();
  }).on("tlsClientError", () => undefined);
  beforeAll(async () => {
    await once(server.listen(0), "listening");
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    server.close();
  });

  test("names the Redis that is meant, so that one address may stand for several", async () => {
    expect(await findRedis(`rediss://localhost:${port}`, { ca: authority.ca })).toMatchObject({ ok: false });
    expect(new Set(named)).toEqual(new Set(["localhost"]));
  });

  test("asks for a certificate that may be trusted, also where Node was told to take any", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const found = [
      ...(await findKafka({ brokers: [`localhost:${port}`], ssl: {} }, "any")), await findRedis(`rediss://localhost:${port}`),
      ...(await findRegistry({ url: `https://localhost:${port}` }, "any")), ...(await findRegistry({ url: `https://localhost:${port}`, tls: { ca: makeAuthority("another").ca } }, "any")),
    ];
    expect(found.map(({ name, detail }) => [name, /authority that is not trusted here/.test(detail)])).toEqual(["kafka", "redis", "registry", "registry"].map((name) => [name, true]));
  });
});
