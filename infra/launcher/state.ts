/** What runs in a folder, as the file beside its data says: whoever starts, looks or ends reads it first. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "./process-identity.ts";
import type { RegistryKind } from "./registry.ts";

export const partNames = ["kafka", "redis", "registry"] as const;
export type PartName = (typeof partNames)[number];

export interface NodeState {
  readonly part: PartName;
  /** `kafka-1`, `redis`, `registry`. */
  readonly name: string;
  readonly process: ProcessIdentity;
  readonly port: number;
  /** Kafka's second port. */
  readonly controllerPort?: number;
  readonly kind?: RegistryKind;
}

export interface InfraState {
  readonly v: 1;
  readonly nodes: readonly NodeState[];
  /** Ends everything when another process has ended; only where one was named. */
  readonly keeper: ProcessIdentity | null;
  /** Processes that others started and that end together with these. */
  readonly guests?: readonly ProcessIdentity[];
}

const empty: InfraState = { v: 1, nodes: [], keeper: null };
const fileOf = (folder: string): string => join(folder, "infra.json");

export function readState(folder: string): InfraState {
  try {
    return JSON.parse(readFileSync(fileOf(folder), "utf8")) as InfraState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return empty;
    throw error;
  }
}

export function writeState(folder: string, state: InfraState): void {
  const prepared = `${fileOf(folder)}.${process.pid}`;
  writeFileSync(prepared, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(prepared, fileOf(folder));
}

export function removeState(folder: string): void {
  rmSync(fileOf(folder), { force: true });
}

/** Puts a node in the place of one of the same name. */
export function noteNode(folder: string, node: NodeState): void {
  const state = readState(folder);
  writeState(folder, { ...state, nodes: [...state.nodes.filter(({ name }) => name !== node.name), node] });
}

export function dropNode(folder: string, name: string): void {
  const state = readState(folder);
  writeState(folder, { ...state, nodes: state.nodes.filter((node) => node.name !== name) });
}

/** What programs find the parts by. */
export function environmentOf(nodes: readonly NodeState[], registryUrl: (port: number, kind: RegistryKind) => string): Record<string, string> {
  const [redis, registry] = [nodes.find(({ part }) => part === "redis"), nodes.find(({ part }) => part === "registry")];
  const brokers = nodes.filter(({ part }) => part === "kafka").map(({ port }) => `127.0.0.1:${port}`).join(",");
  return {
    ...(brokers !== "" && { LOOPLEDGER_KAFKA_BROKERS: brokers }),
    ...(redis && { LOOPLEDGER_REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
    ...(registry && { LOOPLEDGER_REGISTRY_URL: registryUrl(registry.port, registry.kind ?? "development") }),
  };
}
