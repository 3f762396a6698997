/** A Kafka of a test's own, whose brokers it may kill, pause and start again. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type KafkaCluster, type KafkaTls, prepareKafka, startKafkaNode, waitKafkaReady } from "@loopledger/infra/kafka";
import { adopt } from "@loopledger/infra/launcher";
import { holdProcess, isAlive, killProcess, type ProcessIdentity } from "@loopledger/infra/process-identity";
import { ownPorts } from "./own-ports.ts";
import { KafkaProxy, WatchedProxy } from "./proxy.ts";
import { currentRun } from "./run.ts";

export interface OwnKafka {
  /** The addresses of all brokers, also of those that are down. */
  readonly brokers: string;
  /** The same where a name and a password are asked for; empty without `login`. */
  readonly loginBrokers: string;
  /** The same through the proxies; empty without `proxied`. */
  readonly proxiedBrokers: string;
  /** One a broker, in its order; clients that came through one are told of the others alone. */
  readonly proxies: readonly KafkaProxy[];
  /** Where TLS is spoken, by the name of the listener. */
  readonly tls: ReadonlyMap<string, TlsEntrance>;
  /** Broker ids count from 1. */
  kill(broker?: number): Promise<void>;
  pause(broker?: number): void;
  resume(broker?: number): void;
  /** Starts one that was killed, on its data and ports, and waits until it takes work. */
  restart(broker?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface TlsEntrance {
  readonly brokers: string;
  /** Clients pass it, and are told of no other way. */
  readonly proxy: WatchedProxy;
}

export interface OwnKafkaOptions {
  readonly brokers?: 1 | 3;
  /** A proxy before each broker. */
  readonly proxied?: boolean;
  /** Who may come in through a listener of its own that asks for it. */
  readonly login?: { readonly username: string; readonly password: string; readonly lastsMs?: number };
  /** Listeners that speak TLS, of the first broker. */
  readonly tls?: readonly Omit<KafkaTls, "port" | "advertised">[];
}

export async function ownKafka({ brokers: count = 1, proxied = false, login, tls: wanted = [] }: OwnKafkaOptions = {}): Promise<OwnKafka> {
  const folder = mkdtempSync(join(currentRun().folder, "kafka-"));
  const perNode = 2 + (proxied ? 1 : 0) + (login ? 1 : 0);
  const ports = await ownPorts(count * perNode);
  const proxies = proxied ? await Promise.all(Array.from({ length: count }, (_, index) => KafkaProxy.start(ports[index * perNode + 2] ?? 0))) : [];
  const entrances = await Promise.all(wanted.map(async (one) => {
    const [port = 0] = await ownPorts(1);
    return { ...one, port, proxy: await WatchedProxy.start(port) };
  }));
  const tls = entrances.map(({ proxy, ...one }) => ({ ...one, advertised: proxy.port }));
  const nodes = Array.from({ length: count }, (_, index) => {
    const [client = 0, controller = 0, listen = 0] = ports.slice(index * perNode, (index + 1) * perNode);
    const proxy = proxies[index];
    return { client, controller, ...(proxy && { proxied: { listen, advertised: proxy.port } }), ...(login && { login: { ...login, port: ports[(index + 1) * perNode - 1] ?? 0 } }), ...(index === 0 && { tls }) };
  });
  const cluster = await prepareKafka({ folder, nodes, variables: process.env, tell: () => undefined });
  const running = new Map<number, ProcessIdentity>();
  const start = async (index: number): Promise<void> => {
    const started = await startKafkaNode(cluster, index);
    running.set(index, started);
    await adopt({ ...currentRun(), variables: process.env }, [started]);
  };
  const node = (broker: number): ProcessIdentity => {
    const known = running.get(broker - 1);
    if (known === undefined) throw new Error(`There is no broker ${broker}.`);
    return known;
  };
  const ready = (index: number): Promise<void> => waitReadyNode(cluster, { index, process: node(index + 1), nodesMin: [...running.values()].filter(isAlive).length });
  await Promise.all(nodes.map((_, index) => start(index)));
  await Promise.all(nodes.map((_, index) => ready(index)));
  return {
    brokers: nodes.map(({ client }) => `127.0.0.1:${client}`).join(","),
    loginBrokers: nodes.flatMap(({ login: asked }) => (asked ? [`127.0.0.1:${asked.port}`] : [])).join(","),
    proxiedBrokers: proxies.map(({ port }) => `127.0.0.1:${port}`).join(","),
    proxies, tls: new Map(entrances.map(({ name, proxy }) => [name, { proxy, brokers: `127.0.0.1:${proxy.port}` }])),
    kill: (broker = 1) => killProcess(node(broker)),
    pause: (broker = 1) => holdProcess(node(broker), true),
    resume: (broker = 1) => holdProcess(node(broker), false),
    restart: async (broker = 1) => {
      await start(broker - 1);
      await ready(broker - 1);
    },
    stop: async () => {
      await Promise.all([...running.values()].map(killProcess));
      await Promise.all([...proxies, ...entrances.map(({ proxy }) => proxy)].map((proxy) => proxy.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A cluster takes work when every broker that runs does. */
function waitReadyNode({ options: { folder, nodes } }: KafkaCluster, { index, process, nodesMin }: { readonly index: number; readonly process: ProcessIdentity; readonly nodesMin: number }): Promise<void> {
  return waitKafkaReady({ folder, index, port: nodes[index]?.client ?? 0, nodesMin, process });
}
