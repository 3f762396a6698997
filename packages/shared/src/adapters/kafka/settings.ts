/** The Kafka connection as the environment names it; every mistake is told at once. */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { brokerList, type KafkaConnection, type KafkaSasl } from "./connection.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"] as const;
const prefix = "LOOPLEDGER_KAFKA";

/**
 * `LOOPLEDGER_KAFKA_BROKERS`, `…_SASL_MECHANISM` with `…_SASL_USERNAME` and `…_SASL_PASSWORD`, and for TLS `…_TLS_ENABLED`
 * (`true`; said by any of the others too), `…_TLS_CA_FILE`, `…_TLS_CERT_FILE` and `…_TLS_KEY_FILE` (PEM).
 * The connection is null where no brokers are named.
 */
export function readKafkaSettings(variables: Variables): { readonly connection: KafkaConnection | null; readonly faults: readonly string[] } {
  const brokers = variables[`${prefix}_BROKERS`] ?? "";
  if (brokers.trim() === "") return { connection: null, faults: [] };
  const addresses = brokerList(brokers);
  const faults = addresses.filter((one) => !/^(\[[0-9a-f:]+\]|[^\s:]+):\d{1,5}$/i.test(one))
    .map((one) => `${prefix}_BROKERS: "${one}" is not host:port`);
  const sasl = readSasl(variables, faults);
  const ssl = readTls(variables, faults);
  return { connection: { brokers: addresses, sasl, ssl }, faults };
}

function readSasl(variables: Variables, faults: string[]): KafkaSasl | null {
  const [mechanism, username, password] = ["MECHANISM", "USERNAME", "PASSWORD"].map((name) => variables[`${prefix}_SASL_${name}`] ?? "");
  if (!mechanism && !username && !password) return null;
  const known = mechanisms.find((one) => one === (mechanism || "plain").toLowerCase());
  if (known === undefined) faults.push(`${prefix}_SASL_MECHANISM: one of ${mechanisms.join(", ")}`);
  if (!username) faults.push(`${prefix}_SASL_USERNAME: is needed with SASL`);
  if (!password) faults.push(`${prefix}_SASL_PASSWORD: is needed with SASL`);
  return known && username && password ? { mechanism: known, username, password } : null;
}

function readTls(variables: Variables, faults: string[]): ConnectionOptions | null {
  const read = (name: string): string | undefined => {
    const path = variables[`${prefix}_TLS_${name}_FILE`];
    if (!path) return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch {
      faults.push(`${prefix}_TLS_${name}_FILE: ${path} cannot be read`);
      return undefined;
    }
  };
  const [ca, cert, key] = [read("CA"), read("CERT"), read("KEY")];
  const enabled = variables[`${prefix}_TLS_ENABLED`] ?? "";
  if (!["", "true", "false"].includes(enabled)) faults.push(`${prefix}_TLS_ENABLED: true or false`);
  if (enabled === "false" || (enabled !== "true" && ca === undefined && cert === undefined && key === undefined)) return null;
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}
