/**
 * One reader from exact positions. It has connections of its own: one long poll a broker, for all partitions that the broker leads.
 *
 * S1. Each entry is handed on once, in the order of its partition; a piece that does not begin where the reader stands is not used.
 * S2. A broker that fails or no longer leads costs time only: the partitions are asked for at whoever leads next, at the same offset.
 * S3. An offset that is gone ends the subscription with `ledger_lost`; those who wait for it are told.
 * S4. A listener that throws is handed the same entries again after a pause, before any later one of their partition.
 */
import type { Offset } from "../../core/brand.ts";
import { isLoopledgerError, LoopledgerError } from "../../core/errors.ts";
import type { Clock, LogEntry, Positions, Subscription } from "../../ports/index.ts";
import { toEntry } from "./entries.ts";
import type { HeldUp } from "./held-up.ts";
import type { KeyIndex } from "./key-index.ts";
import type { Link } from "./link.ts";
import { pauseAfter, Recovery } from "./patience.ts";
import { checkPart, type Shown } from "./reading.ts";
import type { Topology } from "./topology.ts";
import { type FetchedPart, fetchFrom } from "./wire.ts";

export interface SubscriptionOptions {
  readonly topology: Topology;
  readonly clock: Clock;
  readonly shown: Shown;
  /** Told of every record that is read. */
  readonly keys: KeyIndex;
  /** Told up to where each partition may be read. */
  readonly held: HeldUp;
  /** Sets its connections apart from those of other subscriptions. */
  readonly name: string;
  readonly from: Positions;
  readonly listener: (entries: readonly LogEntry[]) => void;
  /** Everything that this handle was asked to append is settled when this is fulfilled. */
  readonly flushed: () => Promise<void>;
  readonly ends: (partitions: readonly number[]) => Promise<Positions>;
  readonly check: (partition: number) => Promise<void>;
  /** Nobody may go on with this ledger. */
  readonly lost: (error: LoopledgerError) => void;
  readonly troubled: (error: unknown) => void;
  readonly healthy: () => void;
  /** What the listener threw; it is tried again. */
  readonly threw: (error: unknown) => void;
  readonly closed: (subscription: LedgerSubscription) => void;
}

/** A broker that has nothing answers after this long; it bounds what idle readers cost, not how soon an entry is seen. */
const POLL_MS = 500;
const PARTITION_BYTES_MAX = 2 << 20;
const LISTENER_PAUSE_MS = 100;
const LISTENER_PAUSE_MAX_MS = 5_000;
/** The lane of the partitions that nobody leads. */
const NOBODY = null;

class ListenerThrew extends Error {}

interface Waiter {
  readonly ends: Positions;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class LedgerSubscription implements Subscription {
  readonly #options: SubscriptionOptions;
  readonly #next: Map<number, Offset>;
  readonly #lanes = new Set<number | null>();
  /** Lanes that fail again and again: while there is one, another one's answer ends no outage. */
  readonly #failing = new Set<number | null>();
  readonly #recovery: Recovery;
  readonly #unlisten: () => void;
  #waiters: Waiter[] = [];
  #over: LoopledgerError | null = null;
  /** How often in a row the listener has thrown. */
  #faults = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#next = new Map(options.from);
    this.#recovery = new Recovery(options.topology, options.clock);
    this.#unlisten = options.topology.listen(() => this.#assign());
    this.#assign();
  }

  get passed(): Positions {
    return this.#next;
  }

  async caughtUp(): Promise<void> {
    this.#checkOpen();
    await this.#options.flushed();
    this.#checkOpen();
    const ends = await this.#options.ends([...this.#next.keys()]);
    this.#checkOpen();
    if (this.#hasReached(ends)) return;
    await new Promise<void>((done, failed) => this.#waiters.push({ ends, done, failed }));
  }

  async close(): Promise<void> {
    this.end(new LoopledgerError("ledger_closed", "The subscription was closed before it had caught up."));
  }

  /** Hands on nothing more and tells those who wait why. */
  end(error: LoopledgerError): void {
    if (this.#over !== null) return;
    this.#over = error;
    this.#unlisten();
    this.#options.topology.drop(this.#options.name, error);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { failed } of waiters) failed(error);
    this.#options.closed(this);
  }

  #checkOpen(): void {
    if (this.#over !== null) throw this.#over;
  }

  /** Starts a lane for every broker that leads a partition of this reader and has none. */
  #assign(): void {
    if (this.#over !== null) return;
    for (const leader of this.#options.topology.byLeader(this.#next.keys()).keys()) {
      if (this.#lanes.has(leader)) continue;
      this.#lanes.add(leader);
      void this.#run(leader);
    }
  }

  /** Polls one broker for as long as it leads a partition of this reader. It never rejects. */
  async #run(leader: number | null): Promise<void> {
    for (let tries = 0; this.#over === null; ) {
      const partitions = this.#options.topology.byLeader(this.#next.keys()).get(leader) ?? [];
      if (partitions.length === 0) break;
      try {
        if (tries > 0) await this.#recover(tries, partitions);
        if (leader === NOBODY) throw new Error(`Partitions ${partitions.join(", ")} have no leader.`);
        if (tries === 0 || this.#leads(leader, partitions)) await this.#poll(leader, partitions);
        tries = 0;
        this.#failing.delete(leader);
        if (this.#failing.size === 0) this.#options.healthy();
      } catch (error) {
        if (this.#isOver(error)) break;
        if (error instanceof ListenerThrew) {
          await this.#options.topology.pause(Math.min(LISTENER_PAUSE_MAX_MS, LISTENER_PAUSE_MS * 2 ** (this.#faults - 1)));
          continue;
        }
        tries += 1;
        if (tries <= 2) continue;
        this.#failing.add(leader);
        this.#options.troubled(error);
      }
    }
    this.#lanes.delete(leader);
    this.#failing.delete(leader);
    this.#assign();
  }

  #leads(leader: number, partitions: readonly number[]): boolean {
    return partitions.every((partition) => this.#options.topology.leaderOf(partition) === leader);
  }

  async #recover(tries: number, partitions: readonly number[]): Promise<void> {
    await this.#options.topology.pause(pauseAfter(tries));
    this.#checkOpen();
    await this.#recovery.look();
    for (const partition of partitions) await this.#options.check(partition);
  }

  /** True where there is nothing to go on with. */
  #isOver(error: unknown): boolean {
    if (this.#over !== null) return true;
    if (!isLoopledgerError(error) || error.then !== "stop") return false;
    this.#options.lost(error);
    this.end(error);
    return true;
  }

  async #poll(leader: number, partitions: readonly number[]): Promise<void> {
    const { topology, name } = this.#options;
    const link = await topology.link(leader, name);
    const positions = new Map(partitions.map((partition) => [partition, this.#next.get(partition) ?? 0]));
    const parts = await fetchFrom(link, { topic: topology.topic, positions, maxWaitMs: POLL_MS, partitionBytesMax: PARTITION_BYTES_MAX });
    const isTaken = parts.map((part) => part.errorCode !== 0 || this.#take(part));
    this.#release();
    for (const part of parts) await this.#checkPart(part, link);
    if (isTaken.includes(false)) throw new ListenerThrew();
  }

  async #checkPart(part: FetchedPart, link: Link): Promise<void> {
    const from = this.#next.get(part.partition);
    if (from !== undefined) await checkPart(part, { link, topic: this.#options.topology.topic, from });
  }

  /** False where the listener threw: the reader then stands where it stood. */
  #take({ partition, messages, lastStableOffset, end }: FetchedPart): boolean {
    const from = this.#next.get(partition);
    if (from === undefined || this.#over !== null) return true;
    const { keys, shown, held } = this.#options;
    held.see(partition, { stable: Number(lastStableOffset), end: Number(end) });
    let next: number = from;
    const entries: LogEntry[] = [];
    for (const message of messages) {
      const offset = Number(message.offset);
      if (offset < next) continue;
      next = offset + 1;
      const entry = toEntry(partition, message);
      if (entry === null) continue;
      entries.push(entry);
      keys.note(partition, entry.key, offset);
    }
    keys.cover(partition, { from, to: next });
    shown.note(partition, next);
    if (entries.length > 0 && !this.#hand(entries)) return false;
    this.#next.set(partition, next as Offset);
    return true;
  }

  #hand(entries: readonly LogEntry[]): boolean {
    try {
      this.#options.listener(entries);
      this.#faults = 0;
      return true;
    } catch (error) {
      this.#faults += 1;
      this.#options.threw(error);
      return false;
    }
  }

  #hasReached(ends: Positions): boolean {
    for (const [partition, end] of ends) if ((this.#next.get(partition) ?? end) < end) return false;
    return true;
  }

  #release(): void {
    if (this.#waiters.length === 0) return;
    const reached = this.#waiters.filter(({ ends }) => this.#hasReached(ends));
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { done } of reached) done();
  }
}
