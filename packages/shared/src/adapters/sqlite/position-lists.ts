/**
 * How a session's and a partition's records are found: lists of positions, written late. Records go in by position alone; once some
 * thousands have piled up behind the watermark, an ordinary append writes the lists of the sessions and partitions among them.
 *
 * X1. What stands up to the watermark is in the lists, and nothing behind it; both change in one transaction.
 * X2. The lists of one session, or one partition, follow each other without overlap: `last` orders them, as it does what is in them.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export const positionTables = `
  CREATE TABLE session_positions(session TEXT NOT NULL, last INTEGER NOT NULL, positions TEXT NOT NULL, PRIMARY KEY(session, last)) STRICT, WITHOUT ROWID;
  CREATE TABLE partition_positions(partition INTEGER NOT NULL, last INTEGER NOT NULL, positions TEXT NOT NULL, PRIMARY KEY(partition, last)) STRICT, WITHOUT ROWID;`;

/** Positions of one row: so few that SQLite keeps the row in its page, and need not fetch the rest of it to compare its key. */
const LIST_MAX = 80;
/** Most positions that are gathered at a time. */
export const gatheredMax = 16_384;

/** Where a record stands, whose it is, and in which partition. */
interface Placed {
  readonly offset: number;
  readonly partition: number;
  readonly key: string;
}

const none: readonly number[] = [];

/** Positions by session and by partition, in order. */
export class Gathered {
  readonly #sessions = new Map<string, number[]>();
  readonly #partitions = new Map<number, number[]>();

  add({ offset, partition, key }: Placed): void {
    push(this.#sessions, key, offset);
    push(this.#partitions, partition, offset);
  }
  ofSession(session: string): readonly number[] {
    return this.#sessions.get(session) ?? none;
  }
  ofPartition(partition: number): readonly number[] {
    return this.#partitions.get(partition) ?? none;
  }
  /** Sorted, so that what lies together in the file is written together. */
  sessions(): readonly (readonly [string, readonly number[]])[] {
    return [...this.#sessions].sort(([a], [b]) => (a < b ? -1 : 1));
  }
  partitions(): Iterable<readonly [number, readonly number[]]> {
    return this.#partitions;
  }
  clear(): void {
    this.#sessions.clear();
    this.#partitions.clear();
  }
  dropUpTo(position: number): void {
    keepBehind(this.#sessions, position);
    keepBehind(this.#partitions, position);
  }
}

function push<K>(lists: Map<K, number[]>, key: K, position: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [position]);
  else list.push(position);
}

function keepBehind<K>(lists: Map<K, number[]>, position: number): void {
  for (const [key, list] of lists) {
    const first = list.findIndex((one) => one > position);
    if (first < 0) lists.delete(key);
    else if (first > 0) lists.set(key, list.slice(first));
  }
}

export interface PositionFile {
  /** Up to here the lists go. */
  watermark(): number;
  last(): number;
  /** Reads where the records after `from` up to `to` stand. */
  gather(into: Gathered, range: { readonly from: number; readonly to: number }): void;
  /** Only inside a transaction, with all that stands between the watermark and `to`. */
  write(gathered: Gathered, to: number): void;
}

export function createPositionFile(db: DatabaseSync): PositionFile {
  const watermark = db.prepare("SELECT listed FROM ledger");
  const last = db.prepare("SELECT max(pos) AS pos FROM rec");
  const placed = db.prepare("SELECT pos, partition, session FROM rec WHERE pos > ? AND pos <= ? ORDER BY pos");
  placed.setReturnArrays(true);
  const ofSession = db.prepare("INSERT INTO session_positions(session, last, positions) VALUES (?, ?, ?)");
  const ofPartition = db.prepare("INSERT INTO partition_positions(partition, last, positions) VALUES (?, ?, ?)");
  const move = db.prepare("UPDATE ledger SET listed = ?");
  return {
    watermark: () => Number(watermark.get()?.["listed"]),
    last: () => Number(last.get()?.["pos"] ?? 0),
    gather: (into, { from, to }) => {
      for (const [offset, partition, key] of placed.all(from, to) as unknown as readonly [number, number, string][]) into.add({ offset, partition, key });
    },
    write: (gathered, to) => {
      for (const [session, positions] of gathered.sessions()) insert(ofSession, session, positions);
      for (const [partition, positions] of gathered.partitions()) insert(ofPartition, partition, positions);
      move.run(to);
    },
  };
}

function insert(statement: StatementSync, key: string | number, positions: readonly number[]): void {
  for (let from = 0; from < positions.length; from += LIST_MAX) {
    const list = positions.slice(from, from + LIST_MAX);
    statement.run(key, list.at(-1) ?? 0, JSON.stringify(list));
  }
}

/** Writes the lists of everything behind the watermark. Only inside a transaction. */
export function listAll(db: DatabaseSync): void {
  const file = createPositionFile(db);
  const end = file.last();
  for (let from = file.watermark(); from < end; ) {
    const to = Math.min(end, from + gatheredMax);
    const gathered = new Gathered();
    file.gather(gathered, { from, to });
    file.write(gathered, to);
    from = to;
  }
}
