/** A Kafka client from settings: addresses, TLS, SASL, and the patience that a broker's restart needs. */
import type { ConnectionOptions } from "node:tls";
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig, type LogEntry } from "kafkajs";
import { tlsTroubleOf } from "../../core/tls-trouble.ts";
import { openSocket } from "./sockets.ts";

const { logLevel } = kafkajs;

export interface KafkaSasl {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  readonly password: string;
}

export interface KafkaConnection {
  /** `host:port` of some brokers; the others are learned from them. */
  readonly brokers: readonly string[];
  /** Default: `loopledger`. */
  readonly clientId?: string;
  readonly sasl?: KafkaSasl | null;
  /** What TLS needs to know (PEM texts); an empty object = the authorities that Node knows; null = no TLS. */
  readonly ssl?: ConnectionOptions | null;
  /** `lasting` (default) outlives a restart or a failover of some 50 s; `none` answers at once, for looks. */
  readonly patience?: "lasting" | "none";
  /** What the client itself says, warnings and errors only. */
  readonly log?: (entry: { readonly level: "warn" | "error"; readonly message: string }) => void;
}

/**
 * The client's own patience rejects everything in flight after 8 s of a broker's restart; these are 100 tries, the later ones
 * half a second apart.
 */
const lasting = { retries: 100, initialRetryTime: 50, maxRetryTime: 500, factor: 0, multiplier: 1.5 };
const none = { retries: 0 };

export const defaultClientId = "loopledger";

/**
 * So long before a login ends it is renewed, in ms. Brokers take no login twice within a second, so the client's own ten seconds would
 * fail at every request where logins last no longer than that.
 */
export const renewalMs = 2_000;

export function connectKafka({ brokers, clientId = defaultClientId, sasl, ssl, patience = "lasting", log }: KafkaConnection): Kafka {
  const hurried = patience === "none";
  const config: KafkaConfig = {
    clientId,
    brokers: [...brokers],
    retry: hurried ? none : lasting,
    connectionTimeout: hurried ? 2_000 : 3_000,
    requestTimeout: hurried ? 5_000 : 30_000,
    reauthenticationThreshold: renewalMs,
    socketFactory: ({ host, port, onConnect }: Parameters<ISocketFactory>[0]) => openSocket({ host, port, ssl, onConnect }),
    logLevel: log ? logLevel.WARN : logLevel.NOTHING,
    logCreator: () => ({ level, log: { message } }: LogEntry) => log?.({ level: level === logLevel.ERROR ? "error" : "warn", message }),
  };
  if (sasl) config.sasl = saslOf(sasl);
  if (ssl) config.ssl = ssl;
  return new kafkajs.Kafka(config);
}

export interface KafkaTrouble {
  /** Why this process is not let in, as a sentence without its stop. */
  readonly why: string;
  readonly next: string;
}

/** Where a broker answers and does not let this process in, or is none that it may trust; null where that is not the reason. The client wraps it, once or twice. */
export function troubleOf(error: unknown, { ssl }: Pick<KafkaConnection, "ssl">): KafkaTrouble | null {
  for (let at = error; at instanceof Error; at = at.cause ?? (at as { readonly originalError?: unknown }).originalError) {
    if (at.name === "KafkaJSSASLAuthenticationError") {
      return { why: at.message, next: "The broker answers and refuses the login: mend LOOPLEDGER_KAFKA_SASL_USERNAME, LOOPLEDGER_KAFKA_SASL_PASSWORD or LOOPLEDGER_KAFKA_SASL_MECHANISM." };
    }
  }
  return tlsTroubleOf(error, { ...place, isTls: Boolean(ssl) });
}
const place = {
  who: "the broker", address: "LOOPLEDGER_KAFKA_BROKERS", files: "LOOPLEDGER_KAFKA_TLS",
  on: "Set LOOPLEDGER_KAFKA_TLS=true, or LOOPLEDGER_KAFKA_TLS_CA_FILE where its authority is a private one",
  off: "Unset LOOPLEDGER_KAFKA_TLS and the files of LOOPLEDGER_KAFKA_TLS_…",
} as const;

function saslOf({ mechanism, username, password }: KafkaSasl): NonNullable<KafkaConfig["sasl"]> {
  switch (mechanism) {
    case "plain": return { mechanism, username, password };
    case "scram-sha-256": return { mechanism, username, password };
    case "scram-sha-512": return { mechanism, username, password };
  }
}
