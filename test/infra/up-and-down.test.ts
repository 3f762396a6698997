import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { adopt, type InfraReport, up } from "@loopledger/infra/launcher";
import { prepareKafka } from "@loopledger/infra/kafka";
import { freePorts, isFree } from "@loopledger/infra/ports";
import { identify, isAlive, killProcess, type ProcessIdentity } from "@loopledger/infra/process-identity";
import { askRedis, findRedis } from "@loopledger/infra/redis";
import { connectKafka } from "@loopledger/shared/kafka-connection";
import { type Ended, type Variables, Workshop, patienceMs } from "../cli/workshop.ts";
import { currentRun } from "../support/parts/run.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });

/** What was downloaded once is there for this user, whatever home the test has. */
const shared: Variables = { XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] || join(process.env["HOME"] || homedir(), ".cache") };
const quiet = { variables: process.env, tell: () => undefined };

let shop: Workshop;
beforeEach(() => {
  shop = new Workshop();
});
afterEach(async () => {
  await infra("down");
  await shop.close();
});

const command = (words: readonly string[], variables: Variables = {}) => shop.start(words, { ...shared, ...variables }).ended;
const infra = (...words: string[]): Promise<Ended> => command(["infra", ...words]);

/** What `up --json` said; its processes end with the test run, also where this file is killed. */
async function upped(...words: string[]): Promise<InfraReport> {
  const { code, out, err } = await infra("up", "--json", ...words);
  if (code !== 0) throw new Error(err);
  const report = JSON.parse(out) as InfraReport;
  await adopt({ ...currentRun(), variables: process.env }, report.parts.flatMap(({ pid }) => identify(pid) ?? []));
  return report;
}

const pidsOf = ({ parts }: InfraReport): Record<string, number> => Object.fromEntries(parts.map(({ name, pid }) => [name, pid]));
const statesOf = ({ parts }: InfraReport): Record<string, string> => Object.fromEntries(parts.map(({ part, state }) => [part, state]));

function identityOf(report: InfraReport, name: string): ProcessIdentity {
  const found = identify(pidsOf(report)[name] ?? 0);
  if (found === null) throw new Error(`${name} does not run.`);
  return found;
}

describe("infra up", () => {
  test("brings everything up with one command, finds it again, restarts what died with its records, and down leaves nothing running", async () => {
    const first = await upped("--ports", "free");
    expect(Object.keys(first.env).sort()).toEqual(["LOOPLEDGER_KAFKA_BROKERS", "LOOPLEDGER_REDIS_URL", "LOOPLEDGER_REGISTRY_URL"]);
    expect(statesOf(first)).toEqual({ kafka: "started", redis: "started", registry: "started" });
    expect(first.topics.map(({ name, did }) => `${name} ${did}`)).toEqual(["goals", "ledger", "status", "dead-letters"].map((role) => `loopledger.${role} made`));
    const doctor = await command(["doctor", "--json"], first.env);
    const doctored = JSON.parse(doctor.out) as { checks: { name: string; ok: boolean; detail: string }[] };
    const { checks } = doctored;
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["kafka", "topic loopledger.ledger", "redis", "registry", "subject loopledger.ledger-value"]));

    // Nothing is exported: the commands that look after Kafka find what was started here, and no other command changes its ledger for it.
    const applied = await command(["topics", "apply"]);
    expect(applied).toMatchObject({ code: 0, out: expect.stringMatching(/^loopledger\.goals +as it must be/), err: expect.stringContaining(String(first.env["LOOPLEDGER_KAFKA_BROKERS"])) });
    const found = JSON.parse((await command(["doctor", "--json"])).out) as typeof doctored;
    expect(found.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(found.checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["ledger", "infra", "kafka", "topic loopledger.ledger", "redis", "registry", "subject loopledger.ledger-value"]));

    const again = await upped("--ports", "free");
    expect(pidsOf(again)).toEqual(pidsOf(first));
    expect(statesOf(again)).toEqual({ kafka: "found", redis: "found", registry: "found" });
    expect(again.topics.map(({ did }) => did)).toEqual(["nothing", "nothing", "nothing", "nothing"]);

    const kafka = connectKafka({ brokers: (first.env["LOOPLEDGER_KAFKA_BROKERS"] ?? "").split(",") });
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic: "loopledger.ledger", messages: [{ key: "s", value: "acknowledged", partition: 0 }] });
    await producer.disconnect();
    await killProcess(identityOf(first, "kafka-1"));
    const dead = await infra("status", "--json");
    expect(dead.code).toBe(1);
    expect(await command(["topics", "apply"])).toMatchObject({ code: 2, err: expect.stringContaining("loopledger infra up") });
    expect(statesOf(JSON.parse(dead.out) as InfraReport)).toEqual({ kafka: "dead", redis: "running", registry: "running" });
    const mended = await upped();
    expect(statesOf(mended)).toEqual({ kafka: "restarted", redis: "found", registry: "found" });
    expect(mended.env).toEqual(first.env);
    const admin = kafka.admin();
    await admin.connect();
    expect((await admin.fetchTopicOffsets("loopledger.ledger")).find(({ partition }) => partition === 0)?.offset).toBe("1");
    await admin.disconnect();

    expect((await infra("status")).code).toBe(0);
    expect(await infra("down")).toMatchObject({ code: 0 });
    expect(Object.values(pidsOf(mended)).map(identify)).toEqual([null, null, null]);
    expect(await Promise.all(mended.parts.map(({ port }) => isFree(port)))).toEqual([true, true, true]);
    const left = readdirSync(mended.folder);
    expect(left.filter((name) => /lock|infra\.json/.test(name))).toEqual([]);
    expect(left).toEqual(expect.arrayContaining(["kafka-1", "redis", "registry"]));
    expect((await infra("status")).code).toBe(1);
    expect((await infra("down", "--purge")).code).toBe(0);
    expect(existsSync(mended.folder)).toBe(false);
  });

  test("removes with --purge what its parts left, and nothing that is somebody else's", async () => {
    const project = join(shop.folder, "project");
    shop.write("project/thesis.md", "mine");
    const foreign = await infra("down", "--dir", project, "--purge");
    expect(foreign).toMatchObject({ code: 2, err: expect.stringMatching(/no folder in which `infra up` started anything, so nothing was removed/) });
    const own = join(project, ".loopledger/infra");
    const up = await upped("--dir", own, "--only", "redis", "--ports", "free");
    writeFileSync(join(own, "notes.txt"), "mine too");
    expect(JSON.parse((await infra("status", "--dir", project, "--json")).out)).toMatchObject({ up: true, folder: own });
    const down = await shop.start(["infra", "down", "--dir", project, "--purge"], { ...shared, ...up.env }).ended;
    expect(down).toMatchObject({ code: 0, err: expect.stringMatching(/left in .*infra, because no part made it: notes\.txt[\s\S]*unset LOOPLEDGER_REDIS_URL/) });
    expect(identify(pidsOf(up)["redis"] ?? 0)).toBeNull();
    expect([readdirSync(project).sort(), readdirSync(own)]).toEqual([[".loopledger", "thesis.md"], ["notes.txt"]]);
  });

  test("called twice at the same time starts each part once", async () => {
    const both = await Promise.all([upped("--only", "redis", "--ports", "free"), upped("--only", "redis", "--ports", "free")]);
    expect(pidsOf(both[0])).toEqual(pidsOf(both[1]));
    expect(both.map((one) => statesOf(one)["redis"]).sort()).toEqual(["found", "started"]);
  });

  test("called again in the very moment of another call waits for it, and finds what it started", async () => {
    const folder = join(shop.folder, "at-once");
    const options = { ...quiet, folder, only: ["redis"], ports: "free", topics: null, owner: currentRun().owner } as const;
    const reports = await Promise.all([up(options), up(options), up(options)]);
    expect(new Set(reports.map((one) => pidsOf(one)["redis"])).size).toBe(1);
    expect(reports.map((one) => statesOf(one)["redis"]).sort()).toEqual(["found", "found", "started"]);
    expect(await infra("down", "--dir", folder)).toMatchObject({ code: 0 });
    expect(identify(pidsOf(reports[0] as InfraReport)["redis"] ?? 0)).toBeNull();
  });

  test("prints on stdout what a shell can take over, and nothing else there", async () => {
    const { out, err } = await infra("up", "--only", "redis", "--ports", "free");
    expect(out).toMatch(/^export LOOPLEDGER_REDIS_URL='redis:\/\/127\.0\.0\.1:\d+'\n$/);
    expect(err).toContain("started, process");
  });

  test("takes the ports from a first one on, and refuses one that somebody else has", async () => {
    const [base = 0] = await freePorts(1);
    // Redis is the third of the four.
    const report = await upped("--only", "redis", "--port-base", String(base - 2));
    expect(report.env["LOOPLEDGER_REDIS_URL"]).toBe(`redis://127.0.0.1:${base}`);
    const other = await infra("up", "--dir", "other", "--only", "redis", "--port-base", String(base - 2));
    expect(other.code).toBe(1);
    expect(other.err).toContain(`Port ${base}, which redis would listen on, is taken`);
    expect(other.err).toContain("--ports free");
    expect(JSON.parse((await infra("status", "--dir", "other", "--json")).out)).toMatchObject({ up: false, parts: [] });
  });

  test("restarts a part on other ports only where that was asked for and somebody else has its own", async () => {
    const first = await upped("--only", "redis", "--ports", "free");
    const port = first.parts[0]?.port ?? 0;
    await killProcess(identityOf(first, "redis"));
    const other = createServer();
    await new Promise<void>((done, fail) => {
      other.once("error", fail).listen(port, "127.0.0.1", done);
    });
    expect(await infra("up", "--only", "redis")).toMatchObject({ code: 1, err: expect.stringContaining(`Port ${port}, which redis would listen on, is taken`) });
    const mended = await upped("--only", "redis", "--ports", "free");
    expect(mended.parts[0]?.port).not.toBe(port);
    expect(await askRedis(mended.parts[0]?.port ?? 0, "PING")).toBe("+PONG");
    await new Promise((done) => other.close(done));
  });

  test("after a down takes the ports that it had where any will do, and others where somebody has taken them meanwhile", async () => {
    const first = await upped("--only", "redis", "--ports", "free");
    const port = first.parts[0]?.port ?? 0;
    expect(await infra("down")).toMatchObject({ code: 0 });
    const again = await upped("--only", "redis", "--ports", "free");
    expect(statesOf(again)).toEqual({ redis: "started" });
    expect(again.env).toEqual(first.env);
    expect(await infra("down")).toMatchObject({ code: 0 });
    const other = createServer();
    await new Promise<void>((done) => {
      other.listen(port, "127.0.0.1", done);
    });
    const moved = await upped("--only", "redis", "--ports", "free");
    expect(moved.parts[0]?.port).not.toBe(port);
    await new Promise((done) => other.close(done));
  });

  test("that was killed before it was done leaves nothing that down cannot end", async () => {
    const started = shop.start(["infra", "up", "--only", "kafka", "--ports", "free"], shared);
    const noted = await until(async () => {
      const { parts } = JSON.parse((await infra("status", "--json")).out) as InfraReport;
      return parts[0];
    }, { what: "the note of the broker", timeoutMs: patienceMs });
    started.process.kill("SIGKILL");
    await started.ended;
    expect(identify(noted.pid)).not.toBeNull();
    expect(await infra("down")).toMatchObject({ code: 0 });
    expect(identify(noted.pid)).toBeNull();
    expect(await isFree(noted.port)).toBe(true);
  });

  test("that waits for a part which never answers has noted it, so that down ends it although the up was killed", async () => {
    shop.write("redis-server", "#!/bin/sh\nexec tail -f /dev/null\n");
    const started = shop.start(["infra", "up", "--only", "redis", "--ports", "free"], { ...shared, PATH: `${shop.folder}:${process.env["PATH"]}` });
    const noted = await until(async () => (JSON.parse((await infra("status", "--json")).out) as InfraReport).parts[0], { what: "the note of the part", timeoutMs: patienceMs });
    started.process.kill("SIGKILL");
    await started.ended;
    expect(identify(noted.pid)).not.toBeNull();
    expect(await infra("down")).toMatchObject({ code: 0 });
    expect(identify(noted.pid)).toBeNull();
  });

  test("refuses words that it does not know before it starts anything", async () => {
    for (const words of [["--only", "kafka,zookeeper"], ["--ports", "any"], ["--ports", "free", "--port-base", "20000"], ["--port-base", "none"]]) {
      expect((await infra("up", ...words)).code).toBe(2);
    }
    expect((await infra("status")).code).toBe(1);
  });
});

describe("parts that belong to another process", () => {
  test("end with it, however it ends, and so does their folder", async () => {
    const owner = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    const identity = await until(() => identify(owner.pid ?? 0), { what: "the owner" });
    const folder = join(shop.folder, "kept");
    const { parts } = await up({ ...quiet, folder, only: ["redis"], ports: "free", topics: null, owner: identity });
    const redis = identify(parts[0]?.pid ?? 0);
    expect(redis !== null && isAlive(redis)).toBe(true);
    expect(await askRedis(parts[0]?.port ?? 0, "PING")).toBe("+PONG");
    await killProcess(identity);
    await until(() => redis !== null && !isAlive(redis) && !existsSync(folder), { what: "the end of Redis and of its folder", timeoutMs: 60_000 });
  });
});

describe("a machine that lacks something", () => {
  const bare = { variables: { PATH: "/nonexistent", HOME: "/nonexistent", XDG_CACHE_HOME: "/nonexistent" }, tell: () => undefined };

  test("is told what to install for Redis", async () => {
    await expect(findRedis(bare)).rejects.toMatchObject({ code: "redis_missing", next: expect.stringContaining("apt-get install redis-server") });
  });

  test("is told what to install for Kafka", async () => {
    const refusal = prepareKafka({ ...bare, variables: { ...bare.variables, XDG_CACHE_HOME: shop.folder }, folder: shop.folder, nodes: [{ client: 1, controller: 2 }] });
    await expect(refusal).rejects.toMatchObject({ code: expect.stringMatching(/^(java|maven)_missing$/), next: expect.stringContaining("apt-get install") });
  });
});
