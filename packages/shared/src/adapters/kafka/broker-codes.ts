/** What a partition's error code in an answer calls for. */
export type CodeMeaning =
  /** Ask the metadata where the partition is now, and try again. */
  | "again"
  /** The offset is not in the log. */
  | "out_of_range"
  /** The topic is not known to that broker. */
  | "no_topic"
  | "too_large"
  /** One of the records is none; which one only single sends tell. */
  | "bad_record"
  /** No try will ever succeed before a person has changed something. */
  | "refused";

const OUT_OF_RANGE = 1;
const NO_TOPIC = 3;
const BAD_RECORD: ReadonlySet<number> = new Set([32, 87]);
const TOO_LARGE: ReadonlySet<number> = new Set([10, 18]);
const names: Readonly<Record<number, string>> = {
  1: "OFFSET_OUT_OF_RANGE", 2: "CORRUPT_MESSAGE", 3: "UNKNOWN_TOPIC_OR_PARTITION", 5: "LEADER_NOT_AVAILABLE", 6: "NOT_LEADER_OR_FOLLOWER",
  7: "REQUEST_TIMED_OUT", 8: "BROKER_NOT_AVAILABLE", 9: "REPLICA_NOT_AVAILABLE", 10: "MESSAGE_TOO_LARGE", 13: "NETWORK_EXCEPTION",
  17: "INVALID_TOPIC_EXCEPTION", 18: "RECORD_LIST_TOO_LARGE", 19: "NOT_ENOUGH_REPLICAS", 20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
  21: "INVALID_REQUIRED_ACKS", 29: "TOPIC_AUTHORIZATION_FAILED", 31: "CLUSTER_AUTHORIZATION_FAILED", 32: "INVALID_TIMESTAMP",
  35: "UNSUPPORTED_VERSION", 42: "INVALID_REQUEST", 43: "UNSUPPORTED_FOR_MESSAGE_FORMAT", 44: "POLICY_VIOLATION", 56: "KAFKA_STORAGE_ERROR",
  74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH", 76: "UNSUPPORTED_COMPRESSION_TYPE", 87: "INVALID_RECORD",
};
const REFUSED: ReadonlySet<number> = new Set([17, 21, 29, 31, 35, 42, 43, 44, 76]);

export function codeName(code: number): string {
  return names[code] ?? `error ${code}`;
}

/** A code that nobody here knows is tried again: brokers get new ones, and tries are bounded. */
export function codeMeaning(code: number): CodeMeaning {
  if (code === OUT_OF_RANGE) return "out_of_range";
  if (code === NO_TOPIC) return "no_topic";
  if (TOO_LARGE.has(code)) return "too_large";
  if (BAD_RECORD.has(code)) return "bad_record";
  return REFUSED.has(code) ? "refused" : "again";
}

const TOO_FEW_COPIES: ReadonlySet<number> = new Set([19, 20]);

/** What a broker answers for a partition instead of doing what it was asked for. */
export class BrokerAnswer extends Error {
  /** What a person does where another try does not help; null where nothing is known. */
  readonly mend: string | null;

  constructor({ topic, partition }: { readonly topic: string; readonly partition: number }, code: number) {
    const isShort = TOO_FEW_COPIES.has(code);
    super(`partition ${partition} of ${topic}: ${codeName(code)}${isShort ? ", fewer brokers have its records than min.insync.replicas demands" : ""}.`);
    this.name = "BrokerAnswer";
    this.mend = isShort ? `Bring back the brokers that hold copies of ${topic}: what waits then goes on by itself. Where they do not come back, lower its min.insync.replicas to the number that is left, or give it copies on other brokers.` : null;
  }
}
