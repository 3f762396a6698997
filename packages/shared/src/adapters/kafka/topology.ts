/**
 * Who leads which partition of one topic, and the connections to those brokers.
 *
 * G1. A connection serves one purpose: a broker answers the requests of a connection one after the other, and a long poll would
 *     hold up an append.
 * G2. What is known of the leaders is asked for again when a broker says that it is wrong or does not answer, never by the clock.
 */
import type { Clock } from "../../ports/index.ts";
import { codeMeaning, codeName } from "./broker-codes.ts";
import type { KafkaConnection } from "./connection.ts";
import { type Address, Link } from "./link.ts";
import { askMetadata, type MetadataAnswer } from "./wire.ts";

/** The brokers answer, and none of them knows the topic. */
export class TopicMissing extends Error {}
export class TopologyClosed extends Error {}

export interface TopologyOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly clock: Clock;
  /** The topic is the ledger's: once it is gone, everything is. */
  readonly isLedger: boolean;
}

/** How long who reads and who writes waits for brokers that are away, in ms. */
export interface PatienceLimits {
  readonly readMs: number;
  readonly writeMs: number;
}
/** By the connection's patience: a process that stays outlives a restart of a broker, a look answers soon. */
function limitsOf(patience: "lasting" | "none" | undefined): PatienceLimits {
  return patience === "none" ? { readMs: 3_000, writeMs: 10_000 } : { readMs: 30_000, writeMs: 50_000 };
}


const METADATA = "metadata";

export class Topology {
  readonly topic: string;
  readonly #options: TopologyOptions;
  readonly #addresses = new Map<number, Address>();
  readonly #leaders = new Map<number, number>();
  readonly #links = new Map<string, Promise<Link>>();
  readonly #listeners = new Set<() => void>();
  /** Who rests, and how to wake him. */
  readonly #resting = new Set<() => void>();
  /** The address that answered last stands first. */
  #entrances: readonly Address[];
  #refreshing: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: TopologyOptions) {
    this.#options = options;
    this.topic = options.topic;
    this.#entrances = options.connection.brokers.map(parseAddress);
  }

  get connection(): KafkaConnection {
    return this.#options.connection;
  }

  get partitions(): number {
    return this.#leaders.size;
  }

  get isLedger(): boolean {
    return this.#options.isLedger;
  }

  /** Where nothing answers at the first try, that is the answer. */
  get isImpatient(): boolean {
    return this.#options.connection.patience === "none";
  }

  get limits(): PatienceLimits {
    return limitsOf(this.#options.connection.patience);
  }

  /** The node that leads a partition; null while nobody does. */
  leaderOf(partition: number): number | null {
    const leader = this.#leaders.get(partition) ?? -1;
    return leader < 0 || !this.#addresses.has(leader) ? null : leader;
  }

  /** Partitions by the node that leads them; those that nobody leads stand under null. */
  byLeader(partitions: Iterable<number>): ReadonlyMap<number | null, readonly number[]> {
    const groups = new Map<number | null, number[]>();
    for (const partition of partitions) {
      const leader = this.leaderOf(partition);
      groups.set(leader, [...(groups.get(leader) ?? []), partition]);
    }
    return groups;
  }

  /** Called after each look at the metadata. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks who leads what. Throws `TopicMissing`, or the last broker's error where none answers. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#ask().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** The open connection to a node for a purpose, or a new one. */
  link(nodeId: number, purpose: string): Promise<Link> {
    const address = this.#addresses.get(nodeId);
    if (address === undefined) return Promise.reject(new Error(`Broker ${nodeId} is not known any more.`));
    return this.#linkTo(address, purpose);
  }

  /** Waits, and keeps the process alive meanwhile, because somebody waits for what comes next; closing ends it early. */
  pause(delayMs: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((done) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#resting.delete(wake);
        done();
      };
      const timer = setTimeout(wake, delayMs);
      this.#resting.add(wake);
    });
  }

  /** Ends all connections of a purpose. */
  drop(purpose: string, reason: Error): void {
    for (const [key, opening] of [...this.#links]) {
      if (!key.endsWith(` ${purpose}`)) continue;
      this.#links.delete(key);
      opening.then((link) => link.drop(reason), () => undefined);
    }
  }

  close(): void {
    this.#isClosed = true;
    const reason = new TopologyClosed("The connection was closed.");
    for (const opening of this.#links.values()) opening.then((link) => link.drop(reason), () => undefined);
    this.#links.clear();
    this.#listeners.clear();
    for (const wake of [...this.#resting]) wake();
  }

  async #linkTo(address: Address, purpose: string): Promise<Link> {
    if (this.#isClosed) throw new TopologyClosed("The connection was closed.");
    const key = `${address.host}:${address.port} ${purpose}`;
    const known = this.#links.get(key);
    if (known !== undefined) {
      const link = await known;
      if (link.isOpen) return link;
      if (this.#links.get(key) !== known) return this.#linkTo(address, purpose);
    }
    const opening = Link.open(address, this.#options.connection, this.#options.clock);
    this.#links.set(key, opening);
    opening.catch(() => {
      if (this.#links.get(key) === opening) this.#links.delete(key);
    });
    const link = await opening;
    if (this.#links.get(key) !== opening) {
      const reason = new TopologyClosed("The connection was closed while it was opened.");
      link.drop(reason);
      throw reason;
    }
    return link;
  }

  async #ask(): Promise<void> {
    let failure: unknown = new Error("No address of a broker is known.");
    for (const address of this.#candidates()) {
      try {
        const link = await this.#linkTo(address, METADATA);
        this.#take(await askMetadata(link, this.topic));
        this.#entrances = [address, ...this.#entrances.filter((other) => !isSame(other, address))];
        for (const listener of [...this.#listeners]) listener();
        return;
      } catch (error) {
        if (this.#isClosed || error instanceof TopicMissing) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #candidates(): readonly Address[] {
    const known = [...this.#addresses.values()].filter((address) => !this.#entrances.some((other) => isSame(other, address)));
    return [...this.#entrances, ...known];
  }

  #take({ brokers, topicMetadata }: MetadataAnswer): void {
    const topic = topicMetadata[0];
    const code = topic?.topicErrorCode ?? 0;
    if (topic === undefined || codeMeaning(code) === "no_topic") throw new TopicMissing(`No broker knows the topic ${this.topic}.`);
    if (code !== 0 && topic.partitionMetadata.length === 0) throw new Error(`The metadata of ${this.topic}: ${codeName(code)}.`);
    for (const { nodeId, host, port } of brokers) this.#addresses.set(nodeId, { host, port });
    const present = new Set(brokers.map(({ nodeId }) => nodeId));
    for (const { partitionId, leader } of topic.partitionMetadata) this.#leaders.set(partitionId, present.has(leader) ? leader : -1);
  }
}

function parseAddress(text: string): Address {
  const at = text.lastIndexOf(":");
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(text.slice(at + 1)) };
}

function isSame(one: Address, other: Address): boolean {
  return one.host === other.host && one.port === other.port;
}
