/** What runs in a folder, as the file beside its data says: whoever starts, looks or ends reads it first. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InfraError } from "./infra-error.ts";
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
const portsFileOf = (folder: string): string => join(folder, "ports.json");

export function readState(folder: string): InfraState {
  try {
    return JSON.parse(readFileSync(fileOf(folder), "utf8")) as InfraState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return empty;
    if (!(error instanceof SyntaxError)) throw error;
    throw new InfraError("invalid_state", `${fileOf(folder)}, which names what runs, cannot be read any more: ${error.message}.`, {
      next: "End what still runs by its pid (`ps` shows it), then remove that file.", cause: error,
    });
  }
}

export function writeState(folder: string, state: InfraState): void {
  writeWhole(fileOf(folder), state);
}

function writeWhole(file: string, content: object): void {
  const prepared = `${file}.${process.pid}`;
  writeFileSync(prepared, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(prepared, file);
}

/** Nothing runs any more. The ports stay noted beside the data: shells hold what was printed of them. */
export function removeState(folder: string): void {
  const { nodes } = readState(folder);
  if (nodes.length > 0) writeWhole(portsFileOf(folder), { ...readPorts(folder), ...Object.fromEntries(nodes.map((node) => [node.part, portsOf(node)])) });
  rmSync(fileOf(folder), { force: true });
}

/** Those that a node listens on, Kafka's second one behind its first. */
export function portsOf({ port, controllerPort }: NodeState): readonly number[] {
  return [port, ...(controllerPort === undefined ? [] : [controllerPort])];
}

/** Where each part listened when it was ended here. */
export function readPorts(folder: string): Readonly<Partial<Record<PartName, readonly number[]>>> {
  try {
    const noted = Object.entries(JSON.parse(readFileSync(portsFileOf(folder), "utf8")) as object);
    return Object.fromEntries(noted.filter(([, ports]) => Array.isArray(ports) && ports.every(Number.isInteger)));
  } catch {
    // Without the note, or with one that somebody spoilt, any other port will do.
    return {};
  }
}

/** Parts run there, or did. */
export function hasParts(folder: string): boolean {
  return existsSync(fileOf(folder)) || existsSync(portsFileOf(folder));
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
