/** The ways into a Kafka node beside its plain one: through a proxy, with a password, with TLS. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface KafkaNodePorts {
  readonly client: number;
  readonly controller: number;
  /** A second listener whose advertised port is another one: that of a proxy before it. */
  readonly proxied?: { readonly listen: number; readonly advertised: number };
  /** A listener that asks who comes (SASL: PLAIN and SCRAM-SHA-256). */
  readonly login?: KafkaLogin;
  /** Listeners that speak TLS. */
  readonly tls?: readonly KafkaTls[];
}
export interface KafkaLogin {
  readonly port: number;
  readonly username: string;
  /** Letters and digits. */
  readonly password: string;
  /** How long a login lasts before it has to be renewed, in ms (default: for ever). */
  readonly lastsMs?: number;
}
export interface KafkaTls {
  /** Capital letters; none of CLIENT, PROXIED, LOGIN and CONTROLLER. */
  readonly name: string;
  readonly port: number;
  /** The port that clients are told (default: its own): that of a proxy before it. */
  readonly advertised?: number;
  /** What it shows, as PEM texts. */
  readonly identity: { readonly cert: string; readonly key: string };
  /** Clients have to show a certificate by this authority (PEM text). */
  readonly clientsBy?: string;
  /** It asks for a name and a password behind TLS. */
  readonly login?: Omit<KafkaLogin, "port">;
}

interface Listener {
  readonly name: string;
  readonly protocol: "PLAINTEXT" | "SSL" | "SASL_PLAINTEXT" | "SASL_SSL";
  readonly port: number;
  readonly advertised: number;
}

/** The properties of all listeners of a node; the PEM files that they name are written into `folder`. */
export function listenerProperties(node: KafkaNodePorts, { folder, id }: { readonly folder: string; readonly id: number }): Record<string, string> {
  const { login, tls = [] } = node;
  const listeners = listenersOf(node);
  const at = (port: (one: Listener) => number): string[] => listeners.map((one) => `${one.name}://127.0.0.1:${port(one)}`);
  return {
    "listeners": [...at(({ port }) => port), `CONTROLLER://127.0.0.1:${node.controller}`].join(","),
    "advertised.listeners": at(({ advertised }) => advertised).join(","),
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "CLIENT",
    "listener.security.protocol.map": [...listeners.map(({ name, protocol }) => `${name}:${protocol}`), "CONTROLLER:PLAINTEXT"].join(","),
    ...(login && loginProperties("login", login)),
    ...Object.assign({}, ...tls.map((one) => ({ ...tlsProperties(one, join(folder, `kafka-${id}-${one.name.toLowerCase()}`)), ...(one.login && loginProperties(one.name.toLowerCase(), one.login)) }))),
  };
}

/** All that may log in on a node. */
export function loginsOf({ login, tls = [] }: KafkaNodePorts): readonly Omit<KafkaLogin, "port">[] {
  return [login, ...tls.map((one) => one.login)].filter((one) => one !== undefined);
}

function listenersOf({ client, proxied, login, tls = [] }: KafkaNodePorts): Listener[] {
  return [
    { name: "CLIENT", protocol: "PLAINTEXT", port: client, advertised: client },
    ...(login ? [{ name: "LOGIN", protocol: "SASL_PLAINTEXT" as const, port: login.port, advertised: login.port }] : []),
    ...(proxied ? [{ name: "PROXIED", protocol: "PLAINTEXT" as const, port: proxied.listen, advertised: proxied.advertised }] : []),
    ...tls.map(({ name, port, advertised = port, login: asked }) => ({ name, protocol: asked ? "SASL_SSL" as const : "SSL" as const, port, advertised })),
  ];
}

function loginProperties(listener: string, { username, password, lastsMs = 0 }: Omit<KafkaLogin, "port">): Record<string, string> {
  const [modules, of] = ["org.apache.kafka.common.security", `listener.name.${listener}`];
  return {
    [`${of}.sasl.enabled.mechanisms`]: "PLAIN,SCRAM-SHA-256",
    [`${of}.plain.sasl.jaas.config`]: `${modules}.plain.PlainLoginModule required user_${username}="${password}";`,
    [`${of}.scram-sha-256.sasl.jaas.config`]: `${modules}.scram.ScramLoginModule required;`,
    [`${of}.connections.max.reauth.ms`]: String(lastsMs),
  };
}

function tlsProperties({ name, identity: { cert, key }, clientsBy }: KafkaTls, path: string): Record<string, string> {
  const of = `listener.name.${name.toLowerCase()}.ssl`;
  const [keys, trusted] = [`${path}-keys.pem`, `${path}-trusted.pem`];
  writeFileSync(keys, key + cert, { mode: 0o600 });
  if (clientsBy !== undefined) writeFileSync(trusted, clientsBy);
  return {
    [`${of}.keystore.type`]: "PEM", [`${of}.keystore.location`]: keys,
    ...(clientsBy !== undefined && { [`${of}.client.auth`]: "required", [`${of}.truststore.type`]: "PEM", [`${of}.truststore.location`]: trusted }),
  };
}
