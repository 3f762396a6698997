/**
 * Brings the topics of a prefix to what they must be. Missing ones are made, settings are mended, and nothing is ever deleted;
 * a partition count that differs is refused before anything is changed, because the place of every session would move.
 */
import type { KafkaAdmin, TopicFacts } from "@loopledger/shared/kafka-admin";
import type { KafkaConnection } from "@loopledger/shared/kafka-connection";
import { createSystemClock } from "@loopledger/shared/system";
import { InfraError } from "./launcher/infra-error.ts";
import { type TopicChoices, topicName, type TopicRole, topicsOf, type WantedTopic } from "./topics.ts";

export interface AppliedTopic {
  readonly name: string;
  readonly role: TopicRole;
  readonly did: "made" | "mended" | "nothing";
  readonly partitions: number;
  readonly replication: number;
  /** Settings that were changed: from, to. */
  readonly changed: Readonly<Record<string, { readonly from: string | null; readonly to: string }>>;
}

/** Two copies that must have taken a record are no mistake where one was asked for, and neither are larger batches. */
function holds(key: string, { wanted, found, replication }: { readonly wanted: string; readonly found: string | undefined; readonly replication: number }): boolean {
  if (key === "max.message.bytes") return Number(found) >= Number(wanted);
  if (key !== "min.insync.replicas") return found === wanted;
  return Number(found) >= Number(wanted) && Number(found) <= replication;
}

/** What differs from what must hold. */
export function differences(wanted: Pick<WantedTopic, "config">, facts: TopicFacts): Readonly<Record<string, { readonly from: string | null; readonly to: string }>> {
  return Object.fromEntries(Object.entries(wanted.config)
    .filter(([key, value]) => !holds(key, { wanted: value, found: facts.config[key], replication: facts.replication }))
    .map(([key, value]) => [key, { from: facts.config[key] ?? null, to: value }]));
}

/**
 * The topics that are wanted beside those that are there: a partition count or a number of copies that nobody asked for is the
 * one that is there.
 */
export async function wantedBeside(admin: KafkaAdmin, prefix: string, choices: TopicChoices): Promise<{ readonly wanted: readonly WantedTopic[]; readonly present: ReadonlyMap<string, TopicFacts> }> {
  const [{ brokers }, present] = await Promise.all([admin.cluster(), admin.topics(topicsOf(prefix).map(({ name }) => name))]);
  const ledger = present.get(topicsOf(prefix).find(({ role }) => role === "ledger")?.name ?? "");
  const flush = choices.flush === undefined ? {} : { flush: choices.flush };
  const partitions = choices.partitions ?? ledger?.partitions;
  const all = (replication: number): readonly WantedTopic[] => topicsOf(prefix, { ...flush, ...(partitions !== undefined && { partitions }), replication });
  const replicationOfNew = choices.replication ?? Math.min(3, brokers);
  const wanted = all(replicationOfNew).map((topic, index) => {
    const facts = present.get(topic.name);
    if (facts === undefined) return topic;
    const beside = all(facts.replication)[index] ?? topic;
    // Only the ledger's count decides about places; another topic's stays what somebody made it.
    return topic.role === "ledger" || choices.partitions !== undefined ? beside : { ...beside, partitions: facts.partitions };
  });
  return { wanted, present };
}

/** Whether a ledger's topic has the number of partitions that the ledger was begun with. Throws `ledger_unreachable` where its records cannot be read. */
export async function lookAtBeginning(connection: KafkaConnection, prefix: string): Promise<{ readonly ok: boolean; readonly detail: string; readonly fix: string }> {
  const { lookAtPartitions } = await import("@loopledger/shared/kafka");
  return lookAtPartitions({ connection, prefix, clock: createSystemClock() });
}

export interface LedgerPlace {
  readonly connection: KafkaConnection;
  readonly prefix: string;
  /** Is told where the records cannot be read: how the topics are set may be the reason, and is mended all the same. */
  readonly tell: (text: string) => void;
}

/** Throws `InfraError` with `partitions_differ` where somebody has given the topic of a ledger more partitions: every start is refused then. */
export async function refuseOtherBeginning(admin: KafkaAdmin, { connection, prefix, tell }: LedgerPlace): Promise<void> {
  const name = topicName(prefix, "ledger");
  if (!(await admin.topics([name])).has(name)) return;
  const looked = await lookAtBeginning(connection, prefix).catch((error: unknown) => {
    tell(`How many partitions the ledger was begun with was not looked at: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  });
  if (looked !== null && !looked.ok) throw new InfraError("partitions_differ", `${name} has ${looked.detail}.`, { next: looked.fix });
}

/** Throws `InfraError` with `partitions_differ` or `replication_impossible` before anything is changed. */
export async function applyTopics(admin: KafkaAdmin, prefix: string, choices: TopicChoices = {}): Promise<readonly AppliedTopic[]> {
  const { wanted, present } = await wantedBeside(admin, prefix, choices);
  const { brokers } = await admin.cluster();
  refuse(wanted, present, { brokers, choices });
  const missing = wanted.filter(({ name }) => !present.has(name));
  await admin.create(missing.map(({ name, partitions, replication, config, initial }) => ({ name, partitions, replication, config: { ...initial, ...config } })));
  const applied: AppliedTopic[] = [];
  for (const topic of wanted) {
    const { name, role, partitions, replication } = topic;
    const facts = present.get(name);
    const changed = facts === undefined ? {} : differences(topic, facts);
    if (facts !== undefined && Object.keys(changed).length > 0) await admin.configure(name, { ...facts.overrides, ...Object.fromEntries(Object.entries(changed).map(([key, { to }]) => [key, to])) });
    const did = facts === undefined ? "made" : Object.keys(changed).length > 0 ? "mended" : "nothing";
    applied.push({ name, role, did, partitions, replication: facts?.replication ?? replication, changed });
  }
  return applied;
}

function refuse(wanted: readonly WantedTopic[], present: ReadonlyMap<string, TopicFacts>, { brokers, choices }: { readonly brokers: number; readonly choices: TopicChoices }): void {
  for (const { name, partitions } of wanted) {
    const facts = present.get(name);
    if (facts === undefined || facts.partitions === partitions) continue;
    throw new InfraError("partitions_differ", `${name} has ${facts.partitions} partitions, not ${partitions}. The count is fixed for good: a session's place follows from it.`, {
      next: `Leave --partitions out, or give --partitions ${facts.partitions}; for another count start a new ledger under another LOOPLEDGER_TOPIC_PREFIX.`,
    });
  }
  if (choices.replication !== undefined && choices.replication > brokers) {
    throw new InfraError("replication_impossible", `${choices.replication} copies need as many brokers, and there are ${brokers}.`, { next: `Give --replication ${brokers} or less, or add brokers.` });
  }
}
