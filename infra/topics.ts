/**
 * The topics of a prefix, as data: what `topics apply` makes, what `doctor` and every start look for.
 *
 * - The ledger is the only source of truth: nothing of it is ever deleted or compacted, its times are the broker's, and its
 *   partition count is fixed for good, because a session's place follows from it.
 * - Goals are kept as long as the operator says; only compaction is wrong there, since several may share a key.
 */
export type TopicRole = "goals" | "ledger" | "status" | "dead-letters";

export interface WantedTopic {
  readonly role: TopicRole;
  readonly name: string;
  readonly partitions: number;
  readonly replication: number;
  /** What must hold. Settings that are not named are the operator's. */
  readonly config: Readonly<Record<string, string>>;
  /** What a new topic gets beside that; later it is the operator's. */
  readonly initial: Readonly<Record<string, string>>;
}

export interface TopicChoices {
  /** Of the ledger and of what is keyed like it (default 12). */
  readonly partitions?: number;
  /** Copies of each record (default: 3 where there are three brokers, else as many as there are). */
  readonly replication?: number;
  /** Every record of the ledger is flushed before it is acknowledged: for a single broker whose machine may lose power. */
  readonly flush?: boolean;
}

export const defaultPrefix = "loopledger";
const defaultPartitions = 12;
/**
 * The largest record batch. What belongs together goes in as one batch, and the broker's own default, 1 MiB, is less than a goal
 * of 256 KiB and some large answers may come to.
 */
export const batchBytesMax = 8 << 20;
const year = 365 * 24 * 3_600_000;

export function topicName(prefix: string, role: TopicRole): string {
  return `${prefix}.${role}`;
}

/** A record may be lost with a broker unless another one has it: with three copies two must have taken it. */
function minInsyncOf(replication: number): number {
  return Math.max(1, replication - 1);
}

/** The topics of `prefix`; `replication` is that of a new topic. */
export function topicsOf(prefix: string, { partitions = defaultPartitions, replication = 1, flush = false }: TopicChoices = {}): readonly WantedTopic[] {
  const copies = { "min.insync.replicas": String(minInsyncOf(replication)) };
  const topic = (role: TopicRole, config: Record<string, string>, initial: Record<string, string> = {}): WantedTopic =>
    ({ role, name: topicName(prefix, role), partitions, replication, config: { ...config, ...copies }, initial });
  const large = { "max.message.bytes": String(batchBytesMax) };
  const ledger = { ...large, "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime", "unclean.leader.election.enable": "false" };
  return [
    topic("goals", { "cleanup.policy": "delete" }, { "retention.ms": String(year) }),
    topic("ledger", { ...ledger, ...(flush && { "flush.messages": "1" }) }),
    topic("status", { "cleanup.policy": "compact", ...large }),
    topic("dead-letters", { "cleanup.policy": "delete", "retention.ms": String(10 * year), "retention.bytes": "-1" }, large),
  ];
}
