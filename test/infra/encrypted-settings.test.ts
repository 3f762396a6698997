/** What is known of encrypted connections before one is made. What is wrong with a file is told by its variable and its path, never by what it holds. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { readDistributed } from "@loopledger/composition/settings/distributed";
import { findRedis } from "@loopledger/infra/findings";
import type { InvalidSettings } from "@loopledger/shared/runtime/config";
import { tlsTroubleOf } from "@loopledger/shared/core/tls-trouble";
import { afterAll, describe, expect, test } from "vitest";
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

test("a Redis is told its own name before it shows a certificate, so that one address may stand for several", async () => {
  const named: unknown[] = [];
  const server = createServer(authority.issue("parts", { hosts: ["localhost"] }), (socket) => {
    named.push((socket as { readonly servername?: unknown }).servername);
    socket.destroy();
  }).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await findRedis(`rediss://localhost:${port}`, { ca: authority.ca })).toMatchObject({ ok: false });
  expect(new Set(named)).toEqual(new Set(["localhost"]));
  server.close();
});

describe("why an encrypted connection does not come about", () => {
  const place = { who: "the broker", address: "ADDRESS", files: "TLS", on: "Turn it on", off: "Turn it off", isTls: true };
  const wrapped = (code: string, message: string): Error => new Error("many tries", { cause: Object.assign(new Error(`Connection error: ${message}`), { code }) });
  test.each([
    { code: "CERT_NOT_YET_VALID", message: "certificate is not yet valid", why: /is not valid yet/, isCertain: true },
    { code: "EPROTO", message: "write EPROTO 40:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps:77:", why: /not with TLS/, isCertain: true },
    { code: "EPROTO", message: "write EPROTO 40:error:0A000412:SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate:../deps:918:SSL alert number 42", why: /alert bad certificate/, isCertain: true },
    { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", message: "40:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps:918:SSL alert number 116", why: /\(alert certificate required\)/, isCertain: true },
    { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", message: "40:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../deps:918:SSL alert number 70", why: /no version of TLS in common/, isCertain: true },
    { code: "ECONNRESET", message: "Client network socket disconnected before secure TLS connection was established", why: /hung up/, isCertain: false },
  ])("$code: it is told with what to do, and whether trying again may help", ({ code, message, why, isCertain }) => {
    const found = tlsTroubleOf(wrapped(code, message), place);
    expect(found).toMatchObject({ why: expect.stringMatching(why), next: expect.stringMatching(/\.$/), isCertain });
    expect(found?.why).not.toMatch(/deps|routines/);
  });
  test.each(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND"])("%s of a connection that was there is none of its reasons", (code) => {
    expect(tlsTroubleOf(wrapped(code, "read failed"), place)).toBeNull();
  });
});
