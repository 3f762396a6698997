/** Where Kafka, Redis and the schema registry are, and how to get in. */
import { InvalidSettings } from "@loopledger/shared/runtime/config";
import { z } from "zod";
import { type Tls, tlsFaults, tlsFilesOf, tlsMismatches, tlsShape } from "./tls.ts";

export type { Tls };

export interface Sasl {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  readonly password: string;
}
export interface Distributed {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  readonly sasl: Sasl | null;
  /** null = Kafka is spoken to without TLS. */
  readonly tls: Tls | null;
  readonly redisUrl: string;
  /** Of a `rediss:` URL; null = with the authorities that Node trusts. */
  readonly redisTls: Tls | null;
  readonly registryUrl: string | null;
  /** Of an `https:` URL, likewise. */
  readonly registryTls: Tls | null;
  /** Names of topics, keys and groups begin with it. */
  readonly topicPrefix: string;
}

const prefix = "LOOPLEDGER_";
/** What means nothing without Kafka. */
const kafkaOnly = /^LOOPLEDGER_((REDIS|REGISTRY)_(URL|TLS_\w+)|KAFKA_(SASL|TLS)(_\w+)?)$/;

const brokers = z.string().transform((text, context) => {
  const names = text.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const wrong = names.filter((name) => !/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(name));
  if (wrong.length > 0 || names.length === 0) {
    context.addIssue({ code: "custom", message: `${names.length === 0 ? "it names no broker" : `${wrong.join(", ")} is no host:port`}; several are separated by commas` });
  }
  return names;
});
const urlOf = (protocols: readonly string[]) => z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), `it must be a URL with ${protocols.map((one) => `${one}//`).join(" or ")}`);
const shape = z.object({
  LOOPLEDGER_KAFKA_BROKERS: brokers.optional(),
  LOOPLEDGER_KAFKA_SASL_MECHANISM: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
  LOOPLEDGER_KAFKA_SASL_USERNAME: z.string().optional(),
  LOOPLEDGER_KAFKA_SASL_PASSWORD: z.string().optional(),
  LOOPLEDGER_KAFKA_TLS: z.enum(["true", "false"]).optional(),
  ...tlsShape,
  LOOPLEDGER_REDIS_URL: urlOf(["redis:", "rediss:"]).optional(),
  LOOPLEDGER_REGISTRY_URL: urlOf(["http:", "https:"]).optional(),
  LOOPLEDGER_TOPIC_PREFIX: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, "letters, digits and . _ - only, at most 100").default("loopledger"),
});
type Read = z.infer<typeof shape>;

/** Null where the ledger lies in the data folder. Throws `InvalidSettings` with every fault. */
export function readDistributed(given: Readonly<Record<string, string | undefined>>): Distributed | null {
  const read = shape.safeParse(given);
  const faults = [...(read.success ? [] : read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`)), ...missing(given), ...tlsFaults(given), ...(read.success ? tlsMismatches(read.data) : [])];
  if (!read.success || faults.length > 0) throw new InvalidSettings(faults);
  const { LOOPLEDGER_KAFKA_BROKERS: names, LOOPLEDGER_REDIS_URL: redisUrl, LOOPLEDGER_REGISTRY_URL: registryUrl, LOOPLEDGER_TOPIC_PREFIX: topicPrefix } = read.data;
  if (names === undefined || redisUrl === undefined) return null;
  return {
    brokers: names, redisUrl, registryUrl: registryUrl ?? null, topicPrefix, sasl: saslOf(read.data), tls: kafkaTlsOf(read.data),
    redisTls: tlsFilesOf(read.data, "REDIS_TLS"), registryTls: tlsFilesOf(read.data, "REGISTRY_TLS"),
  };
}

/** What one variable asks of others. */
function missing(given: Readonly<Record<string, string | undefined>>): string[] {
  const has = (name: string): boolean => given[prefix + name] !== undefined;
  const needs = (name: string, wanted: string, why: string): string[] => (has(name) && !has(wanted) ? [`${prefix}${wanted}: it is missing; ${why}`] : []);
  const alone = has("KAFKA_BROKERS") ? [] : Object.keys(given).filter((name) => kafkaOnly.test(name)).sort();
  return [
    ...needs("KAFKA_BROKERS", "REDIS_URL", `a ledger on Kafka (${prefix}KAFKA_BROKERS is set) has its leases and views on Redis`),
    ...(alone.length > 0 ? [`${prefix}KAFKA_BROKERS: it is missing; ${alone.join(", ")} mean${alone.length === 1 ? "s" : ""} nothing for a data folder`] : []),
    ...saslNames.flatMap((name) => (saslNames.some(has) && !has(name) ? [`${prefix}${name}: it is missing; the three SASL settings come together`] : [])),
  ];
}
const saslNames = ["KAFKA_SASL_MECHANISM", "KAFKA_SASL_USERNAME", "KAFKA_SASL_PASSWORD"];

function saslOf({ LOOPLEDGER_KAFKA_SASL_MECHANISM: mechanism, LOOPLEDGER_KAFKA_SASL_USERNAME: username, LOOPLEDGER_KAFKA_SASL_PASSWORD: password }: Read): Sasl | null {
  return mechanism === undefined || username === undefined || password === undefined ? null : { mechanism, username, password };
}
function kafkaTlsOf(read: Read): Tls | null {
  return tlsFilesOf(read, "KAFKA_TLS") ?? (read.LOOPLEDGER_KAFKA_TLS === "true" ? {} : null);
}
