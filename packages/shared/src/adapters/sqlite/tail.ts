/**
 * The readers of one process. Those that have caught up are handed each commit once, in log order: their own process's
 * straight from memory, with the very strings that were appended, other processes' from the file.
 *
 * T1. `delivered` is the position up to which every caught-up reader has been handed everything; it only grows.
 * T2. Own entries wait their turn: where another process committed in between, its entries are read from the file first.
 * T3. A reader that is behind reads by itself, partition by partition, and joins the others at the moment in which nothing
 *     is left between it and `delivered`.
 */
import type { LogEntry } from "../../ports/index.ts";
import type { LedgerRows } from "./ledger-rows.ts";
import { Waiters } from "./waiters.ts";

export interface Reader {
  readonly partitions: ReadonlySet<number>;
  deliver(entries: readonly LogEntry[]): void;
}

export interface TailOptions {
  readonly rows: LedgerRows;
  /** Where the ledger ends now: the readers of this process begin there. */
  readonly start: number;
  readonly isBusy: (error: unknown) => boolean;
  /** What a read threw. */
  readonly failed: (error: unknown) => void;
  /** Told of what the readers are handed, before them, and of own entries even where there is no reader. */
  readonly seen?: ((entries: readonly LogEntry[]) => void) | undefined;
}

/** Rows that are read from the file in one go, and in one turn of the event loop. */
const CHUNK = 500;
const TURN = 4_000;
/** Pause before a file that is busy with another process's recovery is read again. */
const BUSY_PAUSE_MS = 5;

export class Tail {
  readonly #options: TailOptions;
  readonly #readers = new Set<Reader>();
  readonly #waiters = new Waiters();
  #delivered: number;
  /** Up to here the ledger is known to go. */
  #known: number;
  /** Own commits that are not handed on yet. */
  #own: (readonly LogEntry[])[] = [];
  #isStale = false;
  #isPumping = false;
  #goesOnLater = false;
  #isClosed = false;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#delivered = options.start;
    this.#known = options.start;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** Entries that this process has just committed. */
  own(entries: readonly LogEntry[]): void {
    this.#own.push(entries);
    this.#known = Math.max(this.#known, entries.at(-1)?.offset ?? 0);
    this.#pump();
  }

  /** Hands on what others have committed, as far as the file goes now. */
  look(): void {
    this.#isStale = true;
    this.#pump();
  }

  join(reader: Reader): void {
    this.#readers.add(reader);
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader);
  }

  /** Fulfilled once everything up to `position` has been handed to the readers that have joined. */
  reached(position: number): Promise<void> {
    const reached = this.#waiters.wait(position);
    this.#known = Math.max(this.#known, position);
    this.#pump();
    return reached;
  }

  close(error: unknown): void {
    this.#isClosed = true;
    this.#readers.clear();
    this.#waiters.fail(error);
  }

  #pump(): void {
    if (this.#isPumping || this.#isClosed) return;
    this.#isPumping = true;
    try {
      this.#drain();
    } catch (error) {
      if (this.#options.isBusy(error)) this.#goOnLater(BUSY_PAUSE_MS);
      else {
        this.#waiters.fail(error);
        this.#options.failed(error);
      }
    } finally {
      this.#isPumping = false;
    }
    this.#waiters.reach(this.#delivered);
  }

  #drain(): void {
    if (this.#isStale) this.#known = Math.max(this.#known, this.#options.rows.last());
    this.#isStale = false;
    for (let share = TURN; this.#delivered < this.#known && !this.#isClosed; ) {
      // With nobody to hand them to, nothing is read.
      if (this.#readers.size === 0) {
        this.#delivered = this.#known;
        for (const entries of this.#own) this.#options.seen?.(entries);
        this.#own = [];
        return;
      }
      const entries = this.#next(share);
      if (entries.length === 0) {
        this.#goOnLater(0);
        return;
      }
      share -= entries.length;
      this.#hand(entries);
    }
  }

  /** The next entries in log order, or none where the turn's share of reading is used up. */
  #next(share: number): readonly LogEntry[] {
    const head = this.#own[0];
    const first = head?.[0];
    if (head !== undefined && first?.offset === this.#delivered + 1) {
      this.#own.shift();
      return head;
    }
    if (share <= 0) return [];
    const to = first === undefined ? this.#known : first.offset - 1;
    return this.#options.rows.range({ from: this.#delivered + 1, to, limit: CHUNK });
  }

  #hand(entries: readonly LogEntry[]): void {
    this.#delivered = entries.at(-1)?.offset ?? this.#delivered;
    this.#options.seen?.(entries);
    for (const reader of [...this.#readers]) {
      const all = reader.partitions.size === this.#options.rows.partitions;
      const wanted = all ? entries : entries.filter((entry) => reader.partitions.has(entry.partition));
      if (wanted.length > 0) reader.deliver(wanted);
    }
  }

  #goOnLater(pauseMs: number): void {
    if (this.#goesOnLater) return;
    this.#goesOnLater = true;
    const go = (): void => {
      this.#goesOnLater = false;
      this.#pump();
    };
    if (pauseMs === 0) setImmediate(go);
    else setTimeout(go, pauseMs);
  }
}
