/**
 * Is everything that a deployment stands on set as it must be? `doctor` shows all of it; each finding that is not in order names what
 * mends it. A service refuses to start with the same findings of Kafka and its topics (`refuseUnprepared`). What else `doctor` finds, a
 * start meets where it opens that part: a ledger's topic that was given more partitions is refused by the ledger itself.
 */
import { errorCatalogue, isLoopledgerError } from "@loopledger/shared/core/errors";
import { type KafkaAdmin, openKafkaAdmin, type TopicFacts } from "@loopledger/shared/kafka-admin";
import { type KafkaConnection, troubleOf } from "@loopledger/shared/kafka-connection";
import type { RedisOptions } from "@loopledger/shared/redis";
import { createSystemClock } from "@loopledger/shared/system";
import { InfraError } from "./launcher/infra-error.ts";
import { registryAt, type RegistryPlace, type SubjectState } from "./schemas.ts";
import { differences, lookAtBeginning, wantedBeside } from "./topics-apply.ts";
import { topicName, type WantedTopic } from "./topics.ts";

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What mends it; null where nothing is wrong. */
  readonly fix: string | null;
}

export interface Surroundings {
  readonly connection: KafkaConnection;
  /** null = it is not named. */
  readonly redisUrl: string | null;
  /** What TLS needs to know (PEM texts); null = the authorities that Node knows. */
  readonly redisTls: RedisOptions["tls"];
  readonly registryUrl: string | null;
  readonly registryTls: RedisOptions["tls"];
  readonly prefix: string;
}

const fine = (name: string, detail: string): Finding => ({ name, ok: true, detail, fix: null });
const wrong = (name: string, detail: string, fix: string): Finding => ({ name, ok: false, detail, fix });
const apply = "loopledger topics apply";
const catalogued = errorCatalogue().find(({ code }) => code === "registry_unreachable")?.next;
/** Free ports: the usual ones may be taken, and parts that are up are found on theirs. */
const bringUp = 'eval "$(loopledger infra up --ports free)"';

/** All findings, in the order in which they are to be mended. Never throws. */
export async function findSurroundings({ connection, redisUrl, redisTls, registryUrl, registryTls, prefix }: Surroundings): Promise<readonly Finding[]> {
  const [kafka, redis, registry] = await Promise.all([findKafka(connection, prefix), findRedis(redisUrl, redisTls), findRegistry(registryUrl === null ? null : { url: registryUrl, tls: registryTls }, prefix)]);
  return [...(await besideOpenTransactions(await besideBeginning(kafka, connection, prefix), connection, prefix)), redis, ...registry];
}

/** Other producers may write goals in transactions: one that is left open holds up what lies behind it. What cannot be read is told by other findings. */
async function besideOpenTransactions(found: readonly Finding[], connection: KafkaConnection, prefix: string): Promise<readonly Finding[]> {
  const topics = (["goals", "ledger"] as const).map((role) => topicName(prefix, role)).filter((topic) => found.some(({ name, ok }) => ok && name === `topic ${topic}`));
  const { lookForHeldUp } = await import("@loopledger/shared/kafka");
  const looks = topics.map(async (topic) => [`topic ${topic}`, await lookForHeldUp({ connection: { ...connection, patience: "none" }, topic, clock: createSystemClock() }).catch(() => null)] as const);
  const held = new Map<string, { readonly detail: string; readonly fix: string } | null>(await Promise.all(looks));
  return found.map((finding) => {
    const one = held.get(finding.name);
    return one ? wrong(finding.name, one.detail, one.fix) : finding;
  });
}

/** A ledger that is there is refused at every start where somebody has given its topic more partitions; its own records say how many it began with. */
async function besideBeginning(found: readonly Finding[], connection: KafkaConnection, prefix: string): Promise<readonly Finding[]> {
  const name = `topic ${topicName(prefix, "ledger")}`;
  if (!found.some((finding) => finding.name === name && finding.ok)) return found;
  const looked = await lookAtBeginning({ ...connection, patience: "none" }, prefix)
    .catch((error: unknown) => ({ ok: false, detail: `the ledger cannot be read: ${error instanceof Error ? error.message : String(error)}`, fix: bringUp }));
  return looked.ok ? found : found.map((finding) => (finding.name === name ? wrong(name, looked.detail, looked.fix) : finding));
}

/** The brokers and the topics of the prefix. Settings that are `spared` are not looked at. */
export async function findKafka(connection: KafkaConnection, prefix: string, spared: readonly string[] = []): Promise<readonly Finding[]> {
  const addresses = connection.brokers.join(", ");
  let admin: KafkaAdmin | null = null;
  try {
    admin = await openKafkaAdmin({ ...connection, patience: "none" });
    const { clusterId, brokers } = await admin.cluster();
    const { wanted, present } = await wantedBeside(admin, prefix, {});
    const reached = fine("kafka", `${addresses} answers: cluster ${clusterId}, ${brokers} broker${brokers === 1 ? "" : "s"}`);
    return [reached, ...wanted.map((topic) => findTopic(topic, present.get(topic.name), { brokers, spared }))];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = isLoopledgerError(error) ? why : `Kafka at ${addresses} does not say how it is set: ${why}`;
    return [wrong("kafka", `${detail} (LOOPLEDGER_KAFKA_BROKERS names it)`, troubleOf(error, connection)?.next ?? bringUp)];
  } finally {
    await admin?.close();
  }
}

function findTopic(wanted: WantedTopic, facts: TopicFacts | undefined, { brokers, spared }: { readonly brokers: number; readonly spared: readonly string[] }): Finding {
  const name = `topic ${wanted.name}`;
  if (facts === undefined) return wrong(name, `there is no topic ${wanted.name}`, apply);
  const changes = Object.entries(differences(wanted, facts)).filter(([key]) => !spared.includes(key));
  if (changes.length > 0) {
    const detail = changes.map(([key, { from, to }]) => `${key} is ${from ?? "not set"} and must be ${to}`).join("; ");
    return wrong(name, detail, apply);
  }
  const copies = facts.replication < Math.min(3, brokers) ? `, only ${facts.replication} cop${facts.replication === 1 ? "y" : "ies"} on ${brokers} brokers: a lost disk is a lost record` : "";
  const settings = Object.keys(wanted.config).map((key) => `${key}=${facts.config[key] ?? ""}`).join(" ");
  return fine(name, `${facts.partitions} partitions, replication ${facts.replication}, ${settings}${copies}`);
}

export async function findRedis(url: string | null, tls: RedisOptions["tls"] = null): Promise<Finding> {
  if (url === null) return wrong("redis", "LOOPLEDGER_REDIS_URL is not set; leases and views need a Redis", bringUp);
  const { lookAtRedis } = await import("@loopledger/shared/redis");
  const { ok, detail, fix, reachable } = await lookAtRedis({ url, tls, clock: createSystemClock(), log: { warn: () => undefined } });
  if (ok) return fine("redis", detail);
  return reachable ? wrong("redis", detail, fix ?? "Set maxmemory-policy noeviction.") : wrong("redis", `${detail} (LOOPLEDGER_REDIS_URL names it)`, fix ?? bringUp);
}

export async function findRegistry(place: RegistryPlace | null, prefix: string): Promise<readonly Finding[]> {
  if (place === null) return [fine("registry", "none is configured: records are plain JSON")];
  try {
    const states = await registryAt(place).checkSchemas(prefix);
    return [fine("registry", `${new URL(place.url).host} answers`), ...states.map(findSubject)];
  } catch (error) {
    // What the catalogue says of any failure knows less than the command that starts one here.
    const next = isLoopledgerError(error, "registry_unreachable") && error.next !== catalogued ? error.next : bringUp;
    return [wrong("registry", `${error instanceof Error ? error.message : String(error)} (LOOPLEDGER_REGISTRY_URL names it)`, next)];
  }
}

function findSubject({ subject, state, compatibility, detail }: SubjectState): Finding {
  const name = `subject ${subject}`;
  switch (state) {
    case "registered": return compatibility === "BACKWARD_TRANSITIVE" ? fine(name, detail) : wrong(name, detail, apply);
    case "new": case "changed": return wrong(name, detail, apply);
    case "refused": return wrong(name, detail, "Run the release that registered them, or one after it: this one cannot read their records.");
  }
}

/** What is worth mending and loses nothing: too small a batch is told when one does not fit, with the setting to raise. */
const noHindrance = ["max.message.bytes"];

/**
 * What a service looks at before it takes work: the topics, on the brokers that it will use. Throws `InfraError` with
 * `ledger_unprepared`, the command that mends it as `next`; a ledger that cannot be reached is `ledger_unreachable`.
 */
export async function refuseUnprepared(connection: KafkaConnection, prefix: string): Promise<void> {
  const faults = (await findKafka(connection, prefix, noHindrance)).filter(({ ok }) => !ok);
  const [first] = faults;
  if (first === undefined) return;
  const code = first.name === "kafka" ? "ledger_unreachable" : "ledger_unprepared";
  const reach = first.fix === bringUp || first.fix === null ? "See that Kafka runs there and lets this process in; `loopledger infra up --ports free` starts one on this machine." : first.fix;
  throw new InfraError(code, faults.map(({ detail, name }) => (name === "kafka" ? detail : `${name}: ${detail}`)).join("; "), {
    next: code === "ledger_unprepared" ? `\`${apply}\` makes and mends them.` : reach,
  });
}
