/**
 * A real Kafka, a real Redis and a schema registry on this machine, in one call and without Docker.
 *
 * L1. One `up` or `down` at a time on a folder; a second `up` finds what the first one started.
 * L2. A process is noted before anybody waits for it, so that a killed `up` leaves nothing that `down` cannot end.
 * L3. `down` ends exactly what is noted, by pid and start, and leaves no process, port, lock or note behind. The data stays
 *     until `purge`, and with it which ports it had: a later `up` to which any will do takes the same ones.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openKafkaAdmin } from "@loopledger/shared/kafka-admin";
import { publishSchemas } from "../schemas.ts";
import { type AppliedTopic, applyTopics } from "../topics-apply.ts";
import { defaultPrefix, type TopicChoices } from "../topics.ts";
import { makePartsFolder, purgePartsFolder, refuseUnusable } from "./folder.ts";
import { withLock } from "./folder-lock.ts";
import type { Variables } from "./java.ts";
import { prepareKafka, startKafkaNode, stopKafkaNode, waitKafkaReady } from "./kafka.ts";
import { startKeeper } from "./keeping.ts";
import { choosePorts, isFree, type PortChoice, portTaken } from "./ports.ts";
import { endProcess, isAlive, killProcess, type ProcessIdentity } from "./process-identity.ts";
import { startRedis, waitRedisReady } from "./redis.ts";
import { registryKind, registryUrl, startRegistry, waitRegistryReady } from "./registry.ts";
import { dropNode, environmentOf, hasParts, type InfraState, type NodeState, noteNode, type PartName, partNames, portsOf, readPorts, readState, removeState, writeState } from "./state.ts";

export type { PartName, ProcessIdentity };
export { hasParts, partNames };

export interface UpOptions {
  readonly folder: string;
  readonly variables: Variables;
  readonly tell: (text: string) => void;
  readonly only?: readonly PartName[];
  readonly ports?: PortChoice;
  /** Topics that are made or mended, and whose schemas are registered (default: those of the prefix `loopledger`); null = none. */
  readonly topics?: ({ readonly prefix?: string } & TopicChoices) | null;
  /** Everything ends when this process has ended. */
  readonly owner?: ProcessIdentity;
}

export interface PartReport {
  readonly name: string;
  readonly part: PartName;
  readonly state: "started" | "restarted" | "found" | "running" | "dead";
  readonly pid: number;
  readonly port: number;
  readonly kind?: string;
}
export interface InfraReport {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly parts: readonly PartReport[];
  readonly topics: readonly AppliedTopic[];
}

const lockOf = (folder: string): string => join(folder, "infra.lock");

/** Brings up what is not up. Throws `InfraError`; what had come up by then stays noted. */
export async function up(options: UpOptions): Promise<InfraReport> {
  const folder = resolve(options.folder);
  makePartsFolder(folder);
  return withLock(lockOf(folder), () => bringUp({ ...options, folder }), options.tell);
}

async function bringUp(options: UpOptions): Promise<InfraReport> {
  const { folder, only = partNames, owner, topics = {} } = options;
  const before = readState(folder);
  if (owner && before.keeper === null) writeState(folder, { ...before, keeper: await startKeeper(folder, owner, options.variables) });
  const reports = await settleAll(only.map((part) => bringPart(part, before, options)));
  const { nodes } = readState(folder);
  const kafka = nodes.find(({ part }) => part === "kafka");
  const applied = kafka && topics !== null && only.includes("kafka") ? await makeTopics(kafka.port, topics) : [];
  const env = environmentOf(nodes, registryUrl);
  const registry = env["LOOPLEDGER_REGISTRY_URL"];
  if (registry !== undefined && topics !== null && only.includes("registry")) await publishSchemas({ url: registry }, topics.prefix ?? defaultPrefix);
  return { folder, env, parts: reports, topics: applied };
}

/** All of them, and then the first failure: a part that is still starting must not be left alone. */
async function settleAll<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work);
  const failed = settled.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

async function bringPart(part: PartName, { nodes }: InfraState, options: UpOptions): Promise<PartReport> {
  const known = nodes.find((node) => node.part === part);
  const found = known !== undefined && isAlive(known.process);
  // A free port may be taken by somebody else before the part listens on it; then other ones are tried.
  for (let triesLeft = known === undefined && options.ports === "free" ? 2 : 0; ; triesLeft--) {
    const node = found ? known : await startNode(part, known, options);
    if (!found) noteNode(options.folder, node);
    try {
      await waitNodeReady(node, options.folder);
      const { name, port, kind } = node;
      return { name, part, state: found ? "found" : known ? "restarted" : "started", pid: node.process.pid, port, ...(kind && { kind }) };
    } catch (error) {
      if (known === undefined && !isAlive(node.process)) dropNode(options.folder, node.name);
      if (triesLeft === 0) throw error;
    }
  }
}

/** On the ports that it had, where it ran before; after a `down` too, where any ports will do. */
async function startNode(part: PartName, known: NodeState | undefined, { folder, variables, tell, ports = "default" }: UpOptions): Promise<NodeState> {
  const wanted = part === "kafka" ? ["kafka", "kafka-controller"] : [part];
  const had = known ? portsOf(known) : ports === "free" ? readPorts(folder)[part] : undefined;
  const chosen = had?.length === wanted.length ? await portsFor(wanted, had, ports) : await choosePorts(wanted, ports);
  const port = chosen[part] ?? 0;
  tell(`starting ${part} on 127.0.0.1:${port}`);
  switch (part) {
    case "kafka": {
      const controllerPort = chosen["kafka-controller"] ?? 0;
      const cluster = await prepareKafka({ folder, nodes: [{ client: port, controller: controllerPort }], variables, tell });
      return { part, name: "kafka-1", process: await startKafkaNode(cluster, 0), port, controllerPort };
    }
    case "redis":
      return { part, name: "redis", process: await startRedis({ folder, port, variables, tell }), port };
    case "registry": {
      const kind = known?.kind ?? (await registryKind(variables));
      return { part, name: "registry", process: await startRegistry({ folder, port, variables, tell, kind }), port, kind };
    }
  }
}

/** Those that it had, unless somebody else took one meanwhile and any others will do. */
async function portsFor(wanted: readonly string[], had: readonly number[], choice: PortChoice): Promise<Record<string, number>> {
  const areFree = (await Promise.all(had.map(isFree))).every((free) => free);
  if (!areFree && choice === "free") return choosePorts(wanted, choice);
  if (!areFree) throw portTaken(wanted[0] ?? "", had.join(" or "));
  return Object.fromEntries(wanted.map((name, index) => [name, had[index] ?? 0]));
}

function waitNodeReady({ part, process, port, kind = "development" }: NodeState, folder: string): Promise<void> {
  switch (part) {
    case "kafka": return waitKafkaReady({ folder, index: 0, port, nodesMin: 1, process });
    case "redis": return waitRedisReady({ folder, port, process });
    case "registry": return waitRegistryReady({ folder, url: registryUrl(port, kind), process });
  }
}

async function makeTopics(port: number, { prefix = defaultPrefix, ...choices }: NonNullable<UpOptions["topics"]>): Promise<readonly AppliedTopic[]> {
  const admin = await openKafkaAdmin({ brokers: [`127.0.0.1:${port}`] });
  try {
    return await applyTopics(admin, prefix, choices);
  } finally {
    await admin.close();
  }
}

/** Notes processes that somebody else started: `down` ends them too, and so does the end of the owner. */
export async function adopt({ folder, owner, variables }: Pick<UpOptions, "folder" | "variables"> & { readonly owner: ProcessIdentity }, guests: readonly ProcessIdentity[]): Promise<void> {
  makePartsFolder(folder);
  await withLock(lockOf(folder), async () => {
    const state = readState(folder);
    const keeper = state.keeper ?? (await startKeeper(folder, owner, variables));
    writeState(folder, { ...state, keeper, guests: [...(state.guests ?? []).filter(isAlive), ...guests] });
  });
}

/** What is noted, and whether it lives. */
export function status(folder: string): Omit<InfraReport, "topics"> {
  refuseUnusable(resolve(folder), { toLook: true });
  const { nodes } = readState(resolve(folder));
  const parts = nodes.map(({ name, part, process, port, kind }): PartReport => ({ name, part, state: isAlive(process) ? "running" : "dead", pid: process.pid, port, ...(kind && { kind }) }));
  return { folder: resolve(folder), env: environmentOf(nodes, registryUrl), parts };
}

export interface DownOptions {
  readonly folder: string;
  readonly variables: Variables;
  readonly tell: (text: string) => void;
  /** The data goes too, and nothing that is not theirs. */
  readonly purge?: boolean;
}

/** Ends what runs there; says what it was. A folder in which nothing was started is no mistake. */
export async function down({ folder: given, variables, tell, purge = false }: DownOptions): Promise<readonly PartReport[]> {
  const folder = resolve(given);
  if (!existsSync(folder)) return [];
  refuseUnusable(folder);
  const isTheirs = hasParts(folder);
  const ended = await withLock(lockOf(folder), async () => {
    const { parts } = status(folder);
    const { nodes, keeper, guests = [] } = readState(folder);
    if (keeper !== null && keeper.pid !== process.pid) await endProcess(keeper);
    await Promise.all(guests.map(killProcess));
    await settleAll(nodes.map(async (node) => {
      if (isAlive(node.process)) tell(`ending ${node.name}, process ${node.process.pid}`);
      if (node.part === "kafka") await stopKafkaNode(node.process, { folder, variables });
      else await endProcess(node.process);
    }));
    removeState(folder);
    return parts;
  }, tell);
  if (purge) {
    const others = purgePartsFolder(folder, isTheirs);
    tell(others.length === 0 ? `removed ${folder}` : `left in ${folder}, because no part made it: ${others.join(", ")}`);
  }
  return ended;
}
