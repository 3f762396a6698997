import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { InvalidSettings } from "@loopledger/shared/runtime/config";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDeployment } from "../src/settings/deployment.ts";
import { readService } from "../src/settings/service.ts";

const kafka = { LOOPLEDGER_KAFKA_BROKERS: "one:9092, two:9093", LOOPLEDGER_REDIS_URL: "redis://r:6379" };
function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    return (error as InvalidSettings).faults;
  }
  return [];
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "loopledger-deployment-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the settings of a deployment", () => {
  test("nothing set is a data folder of the working folder", () => {
    expect(readDeployment({})).toMatchObject({
      distributed: null, dataFolder: resolve(".loopledger"), blobsFolder: resolve(".loopledger/blobs"), leaseMs: 2_000, silenceMs: 60_000, host: "127.0.0.1", port: null,
    });
  });
  test("set and empty is left out", () => {
    expect(readDeployment({ LOOPLEDGER_KAFKA_BROKERS: "", LOOPLEDGER_PORT: "", LOOPLEDGER_LEASE_MS: "" })).toEqual(readDeployment({}));
  });
  test("how many sessions a process carries at a time is its own choice", () => {
    expect(readDeployment({}).sessionsMax).toBeNull();
    expect(readDeployment({ LOOPLEDGER_SESSIONS_MAX: "400" }).sessionsMax).toBe(400);
  });
  test("Kafka and Redis, with what they need", () => {
    const { distributed, blobsFolder } = readDeployment({
      ...kafka, LOOPLEDGER_REGISTRY_URL: "http://registry:8081/apis", LOOPLEDGER_TOPIC_PREFIX: "mine", LOOPLEDGER_BLOBS_URL: "file:///shared/blobs",
      LOOPLEDGER_KAFKA_SASL_MECHANISM: "scram-sha-256", LOOPLEDGER_KAFKA_SASL_USERNAME: "olga", LOOPLEDGER_KAFKA_SASL_PASSWORD: "secret", LOOPLEDGER_KAFKA_TLS: "true",
    });
    expect(distributed).toEqual({
      brokers: ["one:9092", "two:9093"], redisUrl: "redis://r:6379", registryUrl: "http://registry:8081/apis", topicPrefix: "mine",
      sasl: { mechanism: "scram-sha-256", username: "olga", password: "secret" }, tls: {}, redisTls: null, registryTls: null,
    });
    expect(blobsFolder).toBe("/shared/blobs");
  });
  test.each([[{}, null], [{ LOOPLEDGER_KAFKA_TLS: "true" }, {}], [{ LOOPLEDGER_KAFKA_TLS: "false" }, null]])("TLS with %j", (given, tls) => {
    expect(readDeployment({ ...kafka, ...given }).distributed?.tls).toEqual(tls);
  });
  test("a folder that is handed in goes before the variable", () => {
    expect(readDeployment({ LOOPLEDGER_DATA: "/elsewhere" }, folder).dataFolder).toBe(folder);
  });
});

describe("settings that cannot be right", () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ["Kafka without Redis", { LOOPLEDGER_KAFKA_BROKERS: "one:9092" }, /^LOOPLEDGER_REDIS_URL: it is missing/],
    ["Redis without Kafka", { LOOPLEDGER_REDIS_URL: "redis://r" }, /^LOOPLEDGER_KAFKA_BROKERS: it is missing; LOOPLEDGER_REDIS_URL means nothing/],
    ["a registry without Kafka", { LOOPLEDGER_REGISTRY_URL: "http://r" }, /^LOOPLEDGER_KAFKA_BROKERS: it is missing/],
    ["TLS without Kafka", { LOOPLEDGER_KAFKA_TLS: "true" }, /LOOPLEDGER_KAFKA_TLS means nothing/],
    ["a broker without a port", { ...kafka, LOOPLEDGER_KAFKA_BROKERS: "one" }, /one is no host:port/],
    ["no broker at all", { ...kafka, LOOPLEDGER_KAFKA_BROKERS: " , " }, /names no broker/],
    ["a Redis of another kind", { ...kafka, LOOPLEDGER_REDIS_URL: "http://r" }, /redis:/],
    ["half of SASL", { ...kafka, LOOPLEDGER_KAFKA_SASL_USERNAME: "olga", LOOPLEDGER_KAFKA_SASL_PASSWORD: "x" }, /^LOOPLEDGER_KAFKA_SASL_MECHANISM: it is missing/],
    ["a certificate without its key", { ...kafka, LOOPLEDGER_KAFKA_TLS_CERT_FILE: "/no/such/file" }, /KEY_FILE: it is missing|cannot be read/],
    ["blobs elsewhere than in a folder", { LOOPLEDGER_BLOBS_URL: "s3://bucket" }, /no file: URL/],
    ["a prefix that no topic may have", { LOOPLEDGER_TOPIC_PREFIX: "a b" }, /TOPIC_PREFIX/],
    ["tokens that nobody would ask for", { LOOPLEDGER_TOKENS_FILE: "/tokens" }, /^LOOPLEDGER_TOKENS_FILE: .* unset it/],
    ["keys that nobody would sign with", { LOOPLEDGER_KEYS: "/keys" }, /^LOOPLEDGER_KEYS: .* unset it/],
    ["room for no session", { LOOPLEDGER_SESSIONS_MAX: "0" }, /^LOOPLEDGER_SESSIONS_MAX: /],
    ["a number of sessions that is none", { LOOPLEDGER_SESSIONS_MAX: "many" }, /^LOOPLEDGER_SESSIONS_MAX: it is the number of sessions/],
    ["a port that is none", { LOOPLEDGER_PORT: "http" }, /^LOOPLEDGER_PORT: a port is a number/],
  ])("%s", (_what, given, fault) => {
    expect(faultsOf(() => readDeployment(given)).join("\n")).toMatch(fault);
  });
  test("all of them are named at once", () => {
    const faults = faultsOf(() => readDeployment({ LOOPLEDGER_KAFKA_BROKERS: "x", LOOPLEDGER_LEASE_MS: "1", LOOPLEDGER_PORT: "-1", LOOPLEDGER_FAILPOINTS: "nowhere=kill" }));
    expect(faults.map((fault) => fault.split(":")[0])).toEqual(expect.arrayContaining(["LOOPLEDGER_KAFKA_BROKERS", "LOOPLEDGER_REDIS_URL", "LOOPLEDGER_LEASE_MS", "LOOPLEDGER_PORT"]));
    expect(faults.join("\n")).toContain("nowhere");
  });
});

describe("the words of a service", () => {
  test("go before their variables", () => {
    const given = { variables: { LOOPLEDGER_PORT: "1", LOOPLEDGER_CONFIG: "/a.json" }, words: ["--port", "7", "--config", "/b.json", "--data", "d"], cwd: folder };
    const { port, deployment } = readService(given, { port: 0 });
    expect([port, deployment.configPath, deployment.dataFolder]).toEqual([7, "/b.json", join(folder, "d")]);
  });
  test("that it does not know are a fault", () => {
    expect(faultsOf(() => readService({ variables: {}, words: ["--roles", "all"], cwd: folder }, { port: 0 })).join()).toMatch(/--config FILE/);
  });
});
