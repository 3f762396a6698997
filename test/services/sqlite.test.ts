/** The services on a data folder, and what they refuse to start with. */
import { afterEach, describe, expect, test } from "vitest";
import { folderGrounds } from "../support/worlds/grounds.ts";
import { DeploymentUnderTest, type ServiceName, serviceNames } from "./deployment.ts";
import { servicesSuite } from "./suite.ts";

servicesSuite("SQLite", () => Promise.resolve(folderGrounds));

describe("settings that cannot be right", () => {
  let deployed: DeploymentUnderTest | null = null;
  afterEach(() => deployed?.close());
  const start = (service: ServiceName, more: Readonly<Record<string, string>>) => {
    deployed ??= new DeploymentUnderTest(folderGrounds);
    return deployed.start(service, more).ended;
  };

  test.each(serviceNames)("%s names all of them at once and starts nothing", async (service) => {
    deployed = null;
    const ended = await start(service, {
      LOOPLEDGER_LEASE_MS: "soon", LOOPLEDGER_PORT: "99999", LOOPLEDGER_KAFKA_BROKERS: "nowhere", LOOPLEDGER_FAILPOINTS: "worker.nowhere=kill",
      LOOPLEDGER_BLOBS_URL: "blobs", LOOPLEDGER_KAFKA_SASL_USERNAME: "olga",
    });
    expect(ended).toMatchObject({ code: 2, out: "" });
    for (const fault of ["LEASE_MS", "PORT", "KAFKA_BROKERS: nowhere is no host:port", "REDIS_URL: it is missing", "worker.nowhere", "BLOBS_URL", "SASL_MECHANISM", "SASL_PASSWORD"]) {
      expect(ended.err).toContain(fault);
    }
  });

  test("a worker without a config is refused, because it would set every session aside", async () => {
    deployed = new DeploymentUnderTest(folderGrounds);
    deployed.remove("loopledger.config.json");
    expect(await start("worker", {})).toMatchObject({ code: 2, err: expect.stringContaining("LOOPLEDGER_CONFIG") });
  });
});
