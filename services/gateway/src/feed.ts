/**
 * The accepted records of all sessions, as the engine's folds pass them on, in the log's order within each partition.
 *
 * F1. A row is given out only when everything before it in its partition is folded: no gap, no repeat, in order.
 * F2. It keeps a bounded window. Who falls out of it has to begin again from a cursor.
 * F3. What one of its clients throws when rows come keeps them from no other client.
 */
import type { Offset } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { Change, Engine } from "@loopledger/shared/runtime";
import { RecentCauses, withCause } from "./causes.ts";

export interface Place { readonly partition: number; readonly offset: Offset; readonly seq: number }

/** One accepted record. Its text is made when the first client wants it. */
export class Row {
  readonly partition: number;
  readonly offset: Offset;
  readonly seq: number;
  readonly record: LedgerRecord;
  #causeSeq: number | undefined;
  #isCauseTold = false;
  #data: string | null = null;

  constructor(record: LedgerRecord, { partition, offset, seq }: Place, causeSeq: number | undefined) {
    this.record = record;
    this.#causeSeq = causeSeq;
    this.partition = partition;
    this.offset = offset;
    this.seq = seq;
  }
  get sessionId(): string {
    return this.record.sessionId;
  }
  /** The record names a cause whose seq nobody has told yet. */
  get lacksCause(): boolean {
    return this.record.cause !== undefined && this.#causeSeq === undefined && !this.#isCauseTold && this.#data === null;
  }
  /** Undefined where the cause was never accepted. */
  tellCause(seq: number | undefined): void {
    this.#isCauseTold = true;
    this.#causeSeq = seq;
  }
  /** The envelope with its seq and its cause's, as JSON. */
  get data(): string {
    this.#data ??= JSON.stringify({ ...withCause(this.record, this.#causeSeq), seq: this.seq });
    return this.#data;
  }
}

export interface FeedLimits {
  readonly rowsMax: number;
  /** Of all rows' records as the ledger holds them, in UTF-16 units. */
  readonly charactersMax: number;
}

/** Empty places before they are taken away, unless they are half of all. */
const trimMin = 500;

interface Kept { readonly row: Row; readonly characters: number }

export class Feed {
  readonly #engine: Pick<Engine, "folds" | "supervision">;
  readonly #causes = new RecentCauses();
  readonly #limits: FeedLimits;
  readonly #stops: readonly (() => void)[];
  /** Rows that still wait for something before them, by partition and offset. */
  readonly #pending = new Map<number, Map<Offset, Kept>>();
  readonly #rows: (Kept | null)[] = [];
  /** Where in `#rows` the first row that is kept stands: the places of what has fallen out are taken away in larger pieces. */
  #start = 0;
  #characters = 0;
  /** Index of the first row that is kept. */
  #first = 0;
  /** Up to this index the rows' coming has been told. */
  #told = 0;
  /** Every row from here on is kept, or yet to come. */
  readonly #from: Map<number, Offset>;
  /** Every row before it was given out. */
  readonly #to: Map<number, Offset>;
  #arrival = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();
  #keys = 0;

  constructor(engine: Pick<Engine, "folds" | "supervision">, limits: FeedLimits) {
    const { folds } = engine;
    this.#engine = engine;
    this.#limits = limits;
    this.#from = new Map(folds.handed());
    this.#to = new Map(this.#from);
    this.#stops = [folds.listen((change) => this.#take(change), "gateway.feed"), folds.onFolded(() => this.#emit(), "gateway.feed.positions")];
  }
  close(): void {
    for (const stop of this.#stops) stop();
  }

  /** Index of the first row that is kept. */
  get first(): number {
    return this.#first;
  }
  /** Index of the next row to come. */
  get end(): number {
    return this.#first + this.#rows.length - this.#start;
  }
  get from(): ReadonlyMap<number, Offset> {
    return new Map(this.#from);
  }
  get to(): ReadonlyMap<number, Offset> {
    return new Map(this.#to);
  }
  at(index: number): Row | undefined {
    return index < this.#first ? undefined : this.#rows[index - this.#first + this.#start]?.row;
  }
  /** Resolves when more rows have come. */
  arrival(): Promise<void> {
    return this.#arrival.promise;
  }
  /** Called whenever rows have come and others may have gone. One that throws is called again after a pause, under a key of its own: that others work does not hide it. */
  onArrival(listener: () => void): () => void {
    const key = String(++this.#keys);
    let isOwed = false;
    let cancel = (): void => undefined;
    const tell = (): void => {
      if (isOwed) return;
      isOwed = true;
      cancel = this.#engine.supervision.part("gateway.arrivals").now(() => {
        listener();
        isOwed = false;
      }, key);
    };
    this.#listeners.add(tell);
    return () => {
      this.#listeners.delete(tell);
      cancel();
    };
  }

  #take(change: Change): void {
    const { record, verdict, entry } = change;
    if (!record || verdict.kind !== "accepted" || entry.offset < (this.#to.get(entry.partition) ?? 0)) return;
    const pending = this.#pending.get(entry.partition) ?? new Map<Offset, Kept>();
    const row = new Row(record, { partition: entry.partition, offset: entry.offset, seq: verdict.seq }, this.#causes.take(change));
    this.#pending.set(entry.partition, pending.set(entry.offset, { row, characters: entry.value?.length ?? 0 }));
  }
  #emit(): void {
    for (const [partition, folded] of this.#engine.folds.folded()) {
      for (const one of this.#ready(partition, folded)) {
        this.#rows.push(one);
        this.#characters += one.characters;
      }
      this.#to.set(partition, Math.max(folded, this.#to.get(partition) ?? 0) as Offset);
    }
    if (this.end === this.#told) return;
    this.#told = this.end;
    this.#trim();
    const { resolve } = this.#arrival;
    this.#arrival = Promise.withResolvers<void>();
    resolve();
    for (const tell of this.#listeners) tell();
  }
  /** Takes out what waits before `folded`, in order. Most often that is all there is, and in order. */
  #ready(partition: number, folded: Offset): Kept[] {
    const pending = this.#pending.get(partition);
    if (!pending || pending.size === 0) return [];
    const ready: Kept[] = [];
    for (const one of pending.values()) if (one.row.offset < folded) ready.push(one);
    if (ready.length === pending.size) pending.clear();
    else for (const one of ready) pending.delete(one.row.offset);
    if (ready.length < 2) return ready;
    return ready.sort((a, b) => a.row.offset - b.row.offset);
  }
  #trim(): void {
    const kept = (): number => this.#rows.length - this.#start;
    while (kept() > 1 && (kept() > this.#limits.rowsMax || this.#characters > this.#limits.charactersMax)) {
      const { row, characters } = this.#rows[this.#start] as Kept;
      this.#characters -= characters;
      this.#from.set(row.partition, (row.offset + 1) as Offset);
      this.#rows[this.#start++] = null;
      this.#first++;
    }
    if (this.#start < trimMin && this.#start * 2 < this.#rows.length) return;
    this.#rows.splice(0, this.#start);
    this.#start = 0;
  }
}
