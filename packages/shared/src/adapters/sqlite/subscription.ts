/**
 * One reader from any position: it reads what is behind, then joins the process's tail.
 *
 * S1. A listener that throws is told of the same entries again after a pause, before any later one; the log's other readers
 *     are not disturbed. It leaves the tail meanwhile and joins again once it has caught up.
 */
import { LoopledgerError } from "../../core/errors.ts";
import type { LogEntry, Positions, Subscription } from "../../ports/index.ts";
import type { LedgerRows } from "./ledger-rows.ts";
import type { Reader, Tail } from "./tail.ts";

export interface SubscriptionOptions {
  readonly rows: LedgerRows;
  readonly tail: Tail;
  readonly from: Positions;
  readonly listener: (entries: readonly LogEntry[]) => void;
  /** Everything that this process has been asked to append is in the file when this is fulfilled. */
  readonly flushed: () => Promise<void>;
  /** The last position of the ledger now. */
  readonly end: () => Promise<number>;
  /** What a read threw, where the reader stops, or the listener, where it is tried again. */
  readonly failed: (error: unknown) => void;
  readonly isBusy: (error: unknown) => boolean;
  readonly closed: (subscription: Subscription) => void;
}

const CHUNK = 500;
const BUSY_PAUSE_MS = 5;
const LISTENER_PAUSE_MS = 100;
const LISTENER_PAUSE_MAX_MS = 5_000;

/** What those hear who wait for entries that no longer come. */
export function isOver(): LoopledgerError {
  return new LoopledgerError("ledger_closed", "The subscription was closed before it had caught up.");
}

export class LedgerSubscription implements Subscription {
  readonly #options: SubscriptionOptions;
  /** The next offset to read of each partition, as it stands when the tail is joined. */
  readonly #next: Map<number, number>;
  /** From here on every partition is read. */
  #latest = 0;
  readonly #reader: Reader;
  #joined = Promise.withResolvers<void>();
  #hasJoined = false;
  #isClosed = false;
  /** How often in a row the listener has thrown. */
  #faults = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    const last = options.rows.last();
    for (const [partition, offset] of options.from) {
      if (offset > last + 1) {
        throw new LoopledgerError("ledger_lost", `Partition ${partition} was read up to ${offset} and the ledger now ends at ${last}.`);
      }
    }
    this.#next = new Map(options.from);
    this.#reader = { partitions: new Set(options.from.keys()), deliver: (entries) => this.#deliver(entries) };
    // Nobody may be waiting for it; whoever does gets the rejection all the same.
    this.#joined.promise.catch(() => {});
    setImmediate(() => this.#catchUp());
  }

  async caughtUp(): Promise<void> {
    await this.#options.flushed();
    const end = await this.#options.end();
    do {
      await this.#joined.promise;
      if (this.#isClosed) throw isOver();
      await this.#options.tail.reached(end);
    } while (!this.#hasJoined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.tail.leave(this.#reader);
    if (!this.#hasJoined) this.#joined.reject(isOver());
    this.#options.closed(this);
  }

  #catchUp(): void {
    let isLevel = false;
    try {
      isLevel = this.#isClosed || this.#readBehind();
    } catch (error) {
      if (this.#options.isBusy(error)) {
        setTimeout(() => this.#catchUp(), BUSY_PAUSE_MS);
        return;
      }
      this.#joined.reject(error);
      this.#options.failed(error);
      return;
    }
    if (this.#isClosed) this.#joined.reject(isOver());
    else if (isLevel) this.#join();
    else this.#goOn();
  }

  /** Hands on one piece of what is behind; true where nothing was. */
  #readBehind(): boolean {
    const { rows, tail } = this.#options;
    for (const [partition, from] of this.#next) {
      const entries = rows.ofPartition(partition, { from, to: tail.delivered, limit: CHUNK });
      const last = entries.at(-1);
      if (last === undefined) continue;
      if (this.#hand(entries)) this.#next.set(partition, last.offset + 1);
      return false;
    }
    return true;
  }

  /** A position may lie ahead of the tail, where another process has told it: what stands before it is not handed on. */
  #deliver(entries: readonly LogEntry[]): void {
    const isAhead = (entry: LogEntry): boolean => entry.offset >= (this.#next.get(entry.partition) ?? 0);
    const wanted = entries[0] !== undefined && entries[0].offset >= this.#latest ? entries : entries.filter(isAhead);
    if (wanted.length > 0 && !this.#hand(wanted)) this.#fallBack(wanted);
  }

  /** False where the listener threw. */
  #hand(entries: readonly LogEntry[]): boolean {
    try {
      this.#options.listener(entries);
      this.#faults = 0;
      return true;
    } catch (error) {
      this.#faults++;
      this.#options.failed(error);
      return false;
    }
  }

  /** Leaves the tail and reads again from the first entry that was not taken. */
  #fallBack(entries: readonly LogEntry[]): void {
    const { tail } = this.#options;
    tail.leave(this.#reader);
    for (const partition of this.#reader.partitions) {
      const first = entries.find((entry) => entry.partition === partition)?.offset ?? tail.delivered + 1;
      this.#next.set(partition, Math.max(first, this.#next.get(partition) ?? 0));
    }
    this.#hasJoined = false;
    this.#joined = Promise.withResolvers<void>();
    this.#joined.promise.catch(() => {});
    this.#goOn();
  }
  #goOn(): void {
    const pauseMs = this.#faults === 0 ? 0 : Math.min(LISTENER_PAUSE_MAX_MS, LISTENER_PAUSE_MS * 2 ** (this.#faults - 1));
    if (pauseMs === 0) setImmediate(() => this.#catchUp());
    else setTimeout(() => this.#catchUp(), pauseMs);
  }

  #join(): void {
    this.#latest = Math.max(0, ...this.#next.values());
    this.#options.tail.join(this.#reader);
    this.#hasJoined = true;
    this.#joined.resolve();
    this.#options.tail.look();
  }
}
