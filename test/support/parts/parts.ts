/**
 * A real Kafka, a real Redis and a real registry for tests. Each is chosen for itself: the environment variable (a wrong one
 * fails, nothing is tried behind it), else this checkout's launcher (one set a run, started by the first who asks), else
 * testcontainers, else an error that names all three.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { type PartName, up } from "@loopledger/infra/launcher";
import { applyTopics } from "@loopledger/infra/topics-apply";
import type { TopicChoices } from "@loopledger/infra/topics";
import { type KafkaAdmin, openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { currentRun } from "./run.ts";

export { ownKafka, type OwnKafka } from "./own-kafka.ts";
export { ownRedis, type OwnRedis } from "./own-redis.ts";

export const partVariables: Readonly<Record<PartName, string>> = {
  kafka: "LOOPLEDGER_KAFKA_BROKERS", redis: "LOOPLEDGER_REDIS_URL", registry: "LOOPLEDGER_REGISTRY_URL",
};
/** What the launcher lacks on this machine; any other failure of it is one to be seen. */
const lacking = new Set(["java_missing", "maven_missing", "redis_missing", "download_failed"]);

const found = new Map<PartName, Promise<string>>();

/** `host:port`, several with commas. */
export const kafkaBrokers = (): Promise<string> => address("kafka");
/** `redis://…` */
export const redisUrl = (): Promise<string> => address("redis");
/** The base of the Confluent API. */
export const registryUrl = (): Promise<string> => address("registry");

function address(part: PartName): Promise<string> {
  const known = found.get(part) ?? choose(part);
  found.set(part, known);
  return known;
}

async function choose(part: PartName): Promise<string> {
  const named = process.env[partVariables[part]];
  if (named) {
    await mustListen(part, named);
    return named;
  }
  try {
    return await launch(part);
  } catch (error) {
    if (!lacking.has(String((error as { code?: unknown }).code))) throw error;
    return await contain(part, error as Error);
  }
}

async function launch(part: PartName): Promise<string> {
  const { folder, owner } = currentRun();
  const { env } = await up({
    folder, owner, only: [part], ports: "free", topics: null, variables: process.env,
    tell: (text) => void process.stderr.write(`tests: ${text}\n`),
  });
  return env[partVariables[part]] ?? "";
}

async function contain(part: PartName, launcher: Error): Promise<string> {
  const { startContainer } = await import("./containers.ts");
  try {
    return await startContainer(part);
  } catch (engine) {
    const next = (launcher as { next?: string }).next ?? "";
    throw new Error([
      `The tests need a real ${part}, and there is none:`,
      `  ${partVariables[part]} is not set,`,
      `  the local launcher says: ${launcher.message} ${next}`,
      `  testcontainers says: ${messageOf(engine)}`,
    ].join("\n"), { cause: launcher });
  }
}

/** Each address of the variable takes a connection, or the tests end here: they never use another one than the one named. */
async function mustListen(part: PartName, named: string): Promise<void> {
  const addresses = part === "kafka" ? named.split(",").map((one) => `kafka://${one.trim()}`) : [named];
  const answers = await Promise.all(addresses.map(async (one) => {
    const { hostname, port, protocol } = new URL(one);
    return listens(hostname, Number(port || (protocol === "https:" ? 443 : protocol === "http:" ? 80 : 6379)));
  }));
  if (!answers.includes(true)) throw new Error(`${partVariables[part]} names ${named}, and nobody listens there. Mend it, or unset it: then the tests start a ${part} of their own.`);
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = new Socket({ signal: AbortSignal.timeout(5_000) });
    socket.once("error", () => done(false));
    socket.connect(port, host.replace(/^\[|\]$/g, ""), () => {
      done(true);
      socket.destroy();
    });
  });
}

/** A prefix that nobody else has, for topics, keys and groups. */
export function uniquePrefix(name = "test"): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}

/** The topics of a prefix on these brokers (default: the run's); few partitions, because each costs the broker files. */
export async function makeTopics(prefix: string, { brokers, ...choices }: TopicChoices & { readonly brokers?: string } = {}): Promise<void> {
  await withAdmin(brokers, (admin) => applyTopics(admin, prefix, { partitions: 3, ...choices }));
}

/** Takes away every topic that begins with the prefix. */
export async function removeTopics(prefix: string, { brokers }: { readonly brokers?: string } = {}): Promise<void> {
  await withAdmin(brokers, async (admin) => admin.remove((await admin.list()).filter((name) => name.startsWith(`${prefix}.`))));
}

async function withAdmin<T>(brokers: string | undefined, work: (admin: KafkaAdmin) => Promise<T>): Promise<T> {
  const admin = await openKafkaAdmin({ brokers: (brokers ?? (await kafkaBrokers())).split(",") });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

export const parts = { kafkaBrokers, redisUrl, registryUrl };
