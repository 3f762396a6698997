/**
 * What a process knows of the records behind the watermark: where each session and each partition has some. The process is handed
 * every entry anyway; what it was not handed is read from the file once it is more than a few records.
 *
 * N1. Every position after `#from` up to `known` is here, and `#from` is at or before the file's watermark, which only grows: what is
 *     in neither the lists nor here lies behind both the watermark and `known`, and a read looks there itself.
 * N2. Bounded: what cannot be kept is forgotten, which costs reads some time and no read a record.
 */
import type { LogEntry } from "../../ports/index.ts";
import type { LedgerFile } from "./ledger-file.ts";
import { createPositionFile, Gathered, gatheredMax, type PositionFile } from "./position-lists.ts";

export interface RecentSizes {
  /** Records behind the watermark after which the next append writes their lists. */
  readonly listedAfter: number;
  /** So many rows are looked through by a read rather than gathered before it. */
  readonly lookedThrough: number;
  /** So many positions are kept at most. */
  readonly keptMax: number;
}
const usualSizes: RecentSizes = { listedAfter: 2_048, lookedThrough: 100, keptMax: gatheredMax };

export class RecentPositions {
  readonly #file: PositionFile;
  readonly #sizes: RecentSizes;
  readonly #gathered = new Gathered();
  /** The watermark as it was when it was last looked at; `known` is never more than may be kept ahead of it. */
  #from: number;
  #known: number;
  #hasLooked = false;

  constructor({ db }: Pick<LedgerFile, "db">, sizes: RecentSizes = usualSizes) {
    this.#file = createPositionFile(db);
    this.#sizes = sizes;
    this.#from = this.#file.watermark();
    this.#known = this.#from;
  }

  /** Up to here a read need not look by itself. */
  get known(): number {
    return this.#known;
  }
  ofSession(session: string): readonly number[] {
    return this.#gathered.ofSession(session);
  }
  ofPartition(partition: number): readonly number[] {
    return this.#gathered.ofPartition(partition);
  }

  /** Entries in log order, whatever the process knew before; those that do not join on are read again when they are needed. */
  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.offset !== this.#known + 1) continue;
      this.#gathered.add(entry);
      this.#known = entry.offset;
    }
    if (this.#known - this.#from > this.#sizes.keptMax) this.#forget();
  }

  /**
   * Before a read: what is missing is gathered, unless it is so little that the read may look through it. The first read looks through
   * whatever it is: that costs a quarter of the gathering, and a command that reads once needs no more.
   */
  refresh(): void {
    const { listedAfter, lookedThrough, keptMax } = this.#sizes;
    const end = this.#file.last();
    if (end - this.#known <= lookedThrough && this.#known - this.#from <= 2 * listedAfter) return;
    if (!this.#hasLooked) {
      this.#hasLooked = true;
      return;
    }
    this.#dropUpTo(this.#file.watermark());
    if (end - this.#from <= keptMax) this.#gather(end);
  }

  /**
   * Inside a transaction on a ledger that ended at `end` before it: writes the lists where enough has piled up. What comes back is to
   * be called once the transaction is committed.
   */
  list(end: number): (() => void) | null {
    const { listedAfter, keptMax } = this.#sizes;
    if (end - this.#from < listedAfter) return null;
    this.#dropUpTo(this.#file.watermark());
    if (end - this.#from < listedAfter) return null;
    const to = Math.min(end, this.#from + keptMax);
    this.#gather(to);
    this.#file.write(this.#gathered, to);
    return () => this.#dropUpTo(to);
  }

  #gather(to: number): void {
    if (this.#known >= to) return;
    this.#file.gather(this.#gathered, { from: this.#known, to });
    this.#known = to;
  }
  #dropUpTo(position: number): void {
    if (position <= this.#from) return;
    if (position >= this.#known) {
      this.#gathered.clear();
      this.#known = position;
    } else this.#gathered.dropUpTo(position);
    this.#from = position;
  }
  #forget(): void {
    this.#gathered.clear();
    this.#known = this.#from;
  }
}
