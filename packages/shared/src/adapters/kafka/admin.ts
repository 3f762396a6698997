/**
 * What topics there are and how they are set, and the few acts that `topics apply` needs. It never makes a topic that was not
 * asked for, and it has no call that changes a partition count.
 *
 * A1. A topic that was made is there for everybody: the call returns once the metadata shows a leader for each partition.
 * A2. Setting a topic hands in its whole set of overrides, because the broker forgets what is left out.
 */
import kafkajs, { type Admin, type ITopicMetadata } from "kafkajs";
import { LoopledgerError } from "../../core/errors.ts";
import { connectKafka, type KafkaConnection, troubleOf } from "./connection.ts";

// The package is CommonJS, and this name is not among those that Node finds in it.
const { ConfigResourceTypes } = kafkajs;

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replication: number;
  readonly config: Readonly<Record<string, string>>;
}

export interface TopicFacts {
  readonly name: string;
  readonly partitions: number;
  /** The fewest replicas that a partition has. */
  readonly replication: number;
  /** Every setting in force, defaults of the broker included. */
  readonly config: Readonly<Record<string, string>>;
  /** Only what was set for this topic. */
  readonly overrides: Readonly<Record<string, string>>;
}

export interface KafkaAdmin {
  cluster(): Promise<{ readonly clusterId: string; readonly brokers: number }>;
  /** Those of the named topics that are there. */
  topics(names: readonly string[]): Promise<ReadonlyMap<string, TopicFacts>>;
  list(): Promise<readonly string[]>;
  create(specs: readonly TopicSpec[]): Promise<void>;
  /** Sets exactly these overrides. */
  configure(name: string, overrides: Readonly<Record<string, string>>): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Throws `ledger_unreachable` where no broker answers. */
export async function openKafkaAdmin(connection: KafkaConnection): Promise<KafkaAdmin> {
  const admin = await connected(connection).catch((error: unknown): never => {
    const trouble = troubleOf(error, connection);
    const why = trouble?.why ?? (error instanceof Error ? error.message : String(error));
    const what = trouble === null ? "No Kafka broker answers" : "No Kafka broker can be used";
    throw new LoopledgerError("ledger_unreachable", `${what} at ${connection.brokers.join(", ")}: ${why}`, { cause: error, ...(trouble && { next: trouble.next }) });
  });
  return {
    cluster: async () => {
      const { clusterId, brokers } = await admin.describeCluster();
      return { clusterId, brokers: brokers.length };
    },
    topics: (names) => factsOf(admin, names),
    list: () => admin.listTopics(),
    create: (specs) => createAll(admin, specs),
    configure: async (name, overrides) => {
      const configEntries = Object.entries(overrides).map(([key, value]) => ({ name: key, value }));
      await admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries }] });
    },
    remove: async (names) => {
      if (names.length > 0) await admin.deleteTopics({ topics: [...names] });
    },
    close: () => admin.disconnect(),
  };
}

/** Without patience the client asks the first address alone: then each is asked in its turn, and what the last one said is thrown. */
async function connected(connection: KafkaConnection): Promise<Admin> {
  const entrances = connection.patience === "none" ? connection.brokers.map((broker) => [broker]) : [connection.brokers];
  let failure: unknown;
  for (const brokers of entrances) {
    const admin = connectKafka({ ...connection, brokers }).admin();
    try {
      await admin.connect();
      return admin;
    } catch (error) {
      failure = error;
      await admin.disconnect().catch(() => undefined);
    }
  }
  throw failure;
}

/** The metadata of those that are there; asking for one that is not would throw for all of them. */
async function present(admin: Admin, names: readonly string[]): Promise<ITopicMetadata[]> {
  const there = new Set(await admin.listTopics());
  const topics = names.filter((name) => there.has(name));
  return topics.length === 0 ? [] : (await admin.fetchTopicMetadata({ topics })).topics;
}

/** Where Kafka says that a value comes from: 1 is the topic's own. */
const topicsOwn = 1;

async function factsOf(admin: Admin, names: readonly string[]): Promise<ReadonlyMap<string, TopicFacts>> {
  const found = await present(admin, names);
  if (found.length === 0) return new Map();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false, resources: found.map(({ name }) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  return new Map(found.map(({ name, partitions }) => {
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
    const values = (own: boolean): Record<string, string> => Object.fromEntries(
      entries.filter(({ configSource }) => !own || Number(configSource) === topicsOwn).map(({ configName, configValue }) => [configName, configValue]),
    );
    const replication = Math.min(...partitions.map(({ replicas }) => replicas.length));
    return [name, { name, partitions: partitions.length, replication, config: values(false), overrides: values(true) }];
  }));
}

async function createAll(admin: Admin, specs: readonly TopicSpec[]): Promise<void> {
  if (specs.length === 0) return;
  // Waiting for leaders is done below: the client's own wait may throw for the topic that it has just made.
  await admin.createTopics({
    waitForLeaders: false,
    topics: specs.map(({ name, partitions, replication, config }) => ({
      topic: name, numPartitions: partitions, replicationFactor: replication,
      configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
    })),
  });
  const isLed = ({ partitions }: ITopicMetadata): boolean => partitions.every(({ leader, partitionErrorCode }) => leader >= 0 && partitionErrorCode === 0);
  const deadline = performance.now() + leadersLimitMs;
  for (;;) {
    const found = await present(admin, specs.map(({ name }) => name)).catch(() => []);
    if (found.length === specs.length && found.every((one, index) => isLed(one) && one.partitions.length === (specs.find(({ name }) => name === one.name)?.partitions ?? specs[index]?.partitions))) return;
    if (performance.now() > deadline) throw new Error(`The topics ${specs.map(({ name }) => name).join(", ")} were made, but have no leaders after ${leadersLimitMs / 1000} s.`);
    await new Promise((next) => {
      setTimeout(next, 20);
    });
  }
}
const leadersLimitMs = 30_000;
