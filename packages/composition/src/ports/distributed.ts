/** The ports of a deployment on Kafka and Redis; records pass through the schema registry where there is one. Blobs lie in a folder that all processes share. */
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { DeadLetters, Inbox, ReadModel, Schemas } from "@loopledger/shared/ports";
import type { Log } from "@loopledger/shared/runtime";
import type { Deployment } from "../settings/deployment.ts";
import type { Distributed } from "../settings/distributed.ts";
import type { DataPorts, Opening } from "./data-ports.ts";

type Place = Deployment & { readonly distributed: Distributed };

/** Throws what the adapters refuse to work with, and for who stays also topics that are not as they must be. */
export async function openDistributed({ blobsFolder, distributed }: Place, opening: Opening): Promise<DataPorts> {
  const { clock, ids, log } = opening;
  const connection = connectionOf(distributed, opening);
  if (opening.stays) await (await import("@loopledger/infra/findings")).refuseUnprepared(connection, distributed.topicPrefix);
  const schemas = await schemasOf(distributed, opening);
  const [kafka, redis] = await Promise.all([import("@loopledger/shared/kafka"), import("@loopledger/shared/redis")]);
  const options = { url: distributed.redisUrl, tls: distributed.redisTls, prefix: distributed.topicPrefix, clock, log };
  const ledger = await kafka.openKafkaLedger({
    connection, prefix: distributed.topicPrefix, clock, ids, schemas, landmarks: redis.openRedisLandmarks(options), log: (error) => log.error({ err: error }, "ledger"),
  });
  // Side by side: each waits a moment for a Redis that is away.
  const [leases, models] = await Promise.allSettled([
    redis.openRedisOwnership({ ...options, ids }),
    opening.views ? readable(() => redis.openRedisReadModel({ ...options, ledgerId: ledger.ledgerId }), opening) : null,
  ]);
  if (leases.status === "fulfilled" && models.status === "fulfilled") {
    const views = models.value;
    const feed = kafka.openKafkaStatusFeed({ connection, prefix: distributed.topicPrefix, ledger, clock, ids, schemas, log: (error) => log.error({ err: error }, "status topic") });
    return { ledger, ownership: leases.value, blobs: openFolderBlobs({ folder: blobsFolder, clock, ids }), feed, ...(views && { views }), ...(schemas && { schemas }), ...intakePortsOf(kafka, { connection, distributed, opening }) };
  }
  for (const opened of [models, leases]) if (opened.status === "fulfilled") await opened.value?.close();
  await ledger.close();
  throw [leases, models].flatMap((one) => (one.status === "rejected" ? [one.reason] : []))[0];
}

export interface IntakePorts {
  readonly inbox: Inbox;
  readonly deadLetters: DeadLetters;
}
type Kafka = typeof import("@loopledger/shared/kafka");

function intakePortsOf(kafka: Kafka, { connection, distributed, opening }: { readonly connection: ReturnType<typeof connectionOf>; readonly distributed: Distributed; readonly opening: Opening }): IntakePorts {
  const { clock, ids, log } = opening;
  const options = { connection, prefix: distributed.topicPrefix, clock, ids, log: (error: unknown) => log.error({ err: error }, "topics") };
  return { inbox: kafka.openKafkaInbox(options), deadLetters: kafka.openKafkaDeadLetters(options) };
}
/** The goals topic and the dead letters alone, for who needs neither ledger nor Redis. */
export async function openIntakePorts(distributed: Distributed, opening: Opening): Promise<IntakePorts> {
  return intakePortsOf(await import("@loopledger/shared/kafka"), { connection: connectionOf(distributed, opening), distributed, opening });
}

function connectionOf({ brokers, sasl, tls }: Distributed, { log, stays }: Opening) {
  return {
    brokers, sasl, ssl: tls, patience: stays ? ("lasting" as const) : ("none" as const),
    log: ({ level, message }: { readonly level: "warn" | "error"; readonly message: string }) => kafkaTalk(log, level, message),
  };
}
/** The client tells of every try; what comes of it is told by whoever asked for it. */
function kafkaTalk(log: Log, level: "warn" | "error", message: string): void {
  log.debug({ kafka: message, severity: level }, "Kafka's client");
}

async function schemasOf({ registryUrl, registryTls }: Distributed, { clock, log }: Opening): Promise<Schemas | undefined> {
  if (registryUrl === null) return undefined;
  return (await import("@loopledger/shared/registry")).openRegistrySchemas({ url: registryUrl, tls: registryTls, clock, log });
}

/** Who only reads, and who serves and shows none, goes on without views: the ledger always suffices. */
async function readable(open: () => Promise<ReadModel>, { reads, viewsMayBeAway, log }: Opening): Promise<ReadModel | null> {
  try {
    return await open();
  } catch (error) {
    if (!reads && !viewsMayBeAway) throw error;
    log.warn({ err: error }, "the views cannot be read; the ledger is read instead");
    return null;
  }
}
