/** A real Kafka (KRaft, broker and controller in one process) on loopback, one node or three. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { batchBytesMax } from "../topics.ts";
import { cacheFolder, mavenParts } from "./cache.ts";
import { InfraError } from "./infra-error.ts";
import { findJava, type Java, type Variables } from "./java.ts";
import { type KafkaNodePorts, listenerProperties, loginsOf } from "./kafka-listeners.ts";
import { runProgram, startDetached, waitReady } from "./part-process.ts";
import { endProcess, type ProcessIdentity } from "./process-identity.ts";

export type { KafkaTls } from "./kafka-listeners.ts";

export interface KafkaOptions {
  readonly folder: string;
  readonly nodes: readonly KafkaNodePorts[];
  readonly variables: Variables;
  readonly tell: (text: string) => void;
}

/** What a start of a node needs; made once for all of a cluster. */
export interface KafkaCluster {
  readonly java: Java;
  readonly classpath: string;
  /** Classes as the JVM holds them, written at a clean stop and mapped at the next start. */
  readonly archive: string;
  readonly options: KafkaOptions;
}

const pom = join(import.meta.dirname, "..", "kafka", "pom.xml");
const javaMajorMin = 17;
/** Any fixed id does: a cluster of this launcher never meets another one. */
const clusterId = "bG9vcGxlZGdlci1pbmZyYQ";

export async function prepareKafka(options: KafkaOptions): Promise<KafkaCluster> {
  const { variables, tell } = options;
  const java = await findJava(javaMajorMin, variables);
  if (java === null) {
    throw new InfraError("java_missing", `Kafka needs Java ${javaMajorMin} or newer, and none was found (JAVA_HOME, PATH, /usr/lib/jvm).`, { next: "Install one (Debian: apt-get install default-jre-headless), or use a Kafka of your own: LOOPLEDGER_KAFKA_BROKERS." });
  }
  const jars = await mavenParts(pom, "copy-dependencies", { name: "kafka", variables, tell });
  const names = readdirSync(jars).filter((name) => name.endsWith(".jar")).sort();
  // In one order always: the archive of classes is refused by a JVM whose class path differs.
  const classpath = names.map((name) => join(jars, name)).join(":");
  const key = createHash("sha256").update(`${java.path} ${java.version} ${classpath}`).digest("hex").slice(0, 12);
  return { java, classpath, archive: join(cacheFolder(variables), `kafka-classes-${key}.jsa`), options };
}

function propertiesOf({ options: { nodes, folder } }: KafkaCluster, index: number): Record<string, string | number> {
  const node = nodes[index];
  if (node === undefined) throw new Error(`There is no node ${index}.`);
  const replication = Math.min(3, nodes.length);
  return {
    "process.roles": "broker,controller",
    "node.id": index + 1,
    "controller.quorum.voters": nodes.map(({ controller }, at) => `${at + 1}@127.0.0.1:${controller}`).join(","),
    ...listenerProperties(node, { folder, id: index + 1 }),
    "log.dirs": join(folder, `kafka-${index + 1}`),
    "default.replication.factor": replication,
    "min.insync.replicas": Math.max(1, replication - 1),
    "offsets.topic.replication.factor": replication,
    "transaction.state.log.replication.factor": replication,
    "transaction.state.log.min.isr": Math.max(1, replication - 1),
    "share.coordinator.state.topic.replication.factor": replication,
    "share.coordinator.state.topic.min.isr": Math.max(1, replication - 1),
    ...settings,
  };
}

/** A small machine's measures, and a quick return after a kill: a broker that left without a word is let back in after 1.5 s. */
const settings: Readonly<Record<string, string | number>> = {
  "auto.create.topics.enable": "false",
  "num.partitions": 1,
  "offsets.topic.num.partitions": 1,
  "offsets.retention.minutes": 525_600,
  "transaction.state.log.num.partitions": 1,
  "share.coordinator.state.topic.num.partitions": 1,
  "group.initial.rebalance.delay.ms": 0,
  "group.min.session.timeout.ms": 1_000,
  "broker.session.timeout.ms": 1_500,
  "broker.heartbeat.interval.ms": 300,
  "log.retention.ms": -1,
  "log.retention.bytes": -1,
  "log.segment.bytes": 134_217_728,
  "log.index.size.max.bytes": 1_048_576,
  "log.cleaner.dedupe.buffer.size": 8_388_608,
  "log.cleaner.threads": 1,
  "num.network.threads": 2,
  "num.io.threads": 2,
  "num.recovery.threads.per.data.dir": 1,
  "background.threads": 2,
  "socket.request.max.bytes": 20_971_520,
  "message.max.bytes": batchBytesMax,
};

const jvmFlags = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true"];

/** The archive where there is one; else the first node writes one at its end, under a name of its own. */
function archiveFlags({ archive, options: { folder } }: KafkaCluster, index: number): string[] {
  const quiet = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off"];
  if (existsSync(archive)) return [`-XX:SharedArchiveFile=${archive}`, ...quiet];
  return index === 0 ? [`-XX:ArchiveClassesAtExit=${archive}${archiveMark(folder)}`, ...quiet] : [];
}

function archiveMark(folder: string): string {
  return `.of-${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
}

async function format(cluster: KafkaCluster, index: number, config: string): Promise<void> {
  const { java, classpath, archive, options: { folder, nodes, variables } } = cluster;
  const node = nodes[index];
  const logins = new Set((node ? loginsOf(node) : []).map(({ username, password }) => `SCRAM-SHA-256=[name=${username},password=${password}]`));
  const data = join(folder, `kafka-${index + 1}`);
  if (existsSync(join(data, "meta.properties"))) return;
  mkdirSync(data, { recursive: true });
  const args = [...jvmFlags, ...(existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : []), "kafka.tools.StorageTool", "format", "-t", clusterId, "-c", config, ...[...logins].flatMap((login) => ["--add-scram", login])];
  await runProgram({ program: java.path, args, folder, variables: { ...variables, CLASSPATH: classpath } }, {
    code: "part_failed", problem: `The folder ${data} could not be made Kafka's.`, next: "See that the folder is writable and its disk has space; or take another one with --dir.",
  });
}

/** Starts node `index` (from 0) on its data, and says so before it is ready. */
export async function startKafkaNode(cluster: KafkaCluster, index: number): Promise<ProcessIdentity> {
  const { java, classpath, options: { folder, nodes, variables } } = cluster;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, `kafka-${index + 1}.properties`);
  writeFileSync(config, Object.entries(propertiesOf(cluster, index)).map(([name, value]) => `${name}=${value}\n`).join(""));
  await format(cluster, index, config);
  const heap = nodes.length === 1 ? ["-Xms128m", "-Xmx384m"] : ["-Xms96m", "-Xmx224m"];
  return startDetached({
    program: java.path,
    args: [...heap, ...jvmFlags, ...archiveFlags(cluster, index), "kafka.Kafka", config],
    folder, variables: { ...variables, CLASSPATH: classpath }, log: kafkaLog(folder, index),
  });
}

function kafkaLog(folder: string, index: number): string {
  return join(folder, `kafka-${index + 1}.log`);
}

/** Ready: it answers, and `nodesMin` nodes take work. */
export function waitKafkaReady({ folder, index, port, nodesMin, process }: { readonly folder: string; readonly index: number; readonly port: number; readonly nodesMin: number; readonly process: ProcessIdentity }): Promise<void> {
  return waitReady({
    name: `kafka-${index + 1}`, process, log: kafkaLog(folder, index),
    isReady: () => takesWork(port, nodesMin),
  });
}

async function takesWork(port: number, nodesMin: number): Promise<boolean> {
  const admin = await openKafkaAdmin({ brokers: [`127.0.0.1:${port}`], patience: "none" });
  try {
    return (await admin.cluster()).brokers >= nodesMin;
  } finally {
    await admin.close();
  }
}

/** Ends a node; the classes that a clean stop wrote are taken over for the next starts. */
export async function stopKafkaNode(node: ProcessIdentity, { folder, variables }: { readonly folder: string; readonly variables: Variables }): Promise<void> {
  const clean = await endProcess(node, 30_000);
  const [cache, mark] = [cacheFolder(variables), archiveMark(folder)];
  for (const name of existsSync(cache) ? readdirSync(cache).filter((one) => one.endsWith(mark)) : []) {
    const written = join(cache, name);
    // One that was killed while it wrote leaves half an archive.
    if (clean) renameSync(written, written.slice(0, -mark.length));
    else rmSync(written, { force: true });
  }
}
