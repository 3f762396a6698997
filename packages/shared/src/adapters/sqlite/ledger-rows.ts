/**
 * Reading the ledger's file. Every call is finished statements, so no read ever holds a checkpoint up. What belongs together is in one
 * statement: it sees the lists, the watermark and the records as they stand at one moment, whoever moves the watermark meanwhile.
 *
 * R1. A session's or a partition's records are those of its lists, those that this process knows behind the watermark, and those that
 *     the statement finds behind both. Where two of them name one record it is given once.
 */
import type { Offset } from "../../core/brand.ts";
import type { LogEntry } from "../../ports/index.ts";
import type { LedgerFile } from "./ledger-file.ts";
import { RecentPositions } from "./recent-positions.ts";

/** From `from` to `to`, both included, at most `limit`. */
export interface PositionRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

export interface LedgerRows {
  readonly partitions: number;
  /** The last position of the ledger. */
  last(): number;
  /** Entries of all partitions. */
  range(range: PositionRange): readonly LogEntry[];
  ofPartition(partition: number, range: PositionRange): readonly LogEntry[];
  ofSession(session: string, from: number): readonly LogEntry[];
  /** The offset after the last entry of each partition. */
  ends(): ReadonlyMap<number, Offset>;
}

const columns = "partition, pos AS offset, time, session AS key, value";
/** The records that are in no list and that the process does not know. */
const unlisted = "pos > max((SELECT listed FROM ledger), :known)";

export function createLedgerRows(file: LedgerFile, recent: RecentPositions = new RecentPositions(file)): LedgerRows {
  const { db, partitions } = file;
  const last = db.prepare("SELECT max(pos) AS pos FROM rec");
  const range = db.prepare(`SELECT ${columns} FROM rec WHERE pos BETWEEN ? AND ? ORDER BY pos LIMIT ?`);
  const ofSession = db.prepare(`SELECT ${columns} FROM rec WHERE pos IN (
      SELECT one.value FROM session_positions AS list, json_each(list.positions) AS one WHERE list.session = :session AND list.last >= :from AND one.value >= :from
      UNION ALL SELECT value FROM json_each(:recent)
      UNION ALL SELECT pos FROM rec WHERE ${unlisted} AND pos >= :from AND session = :session) ORDER BY pos`);
  return {
    partitions,
    last: () => Number(last.get()?.["pos"] ?? 0),
    range: ({ from, to, limit }) => entries(range.all(from, to, limit)),
    ofSession: (session, from) => {
      recent.refresh();
      const known = JSON.stringify(recent.ofSession(session).filter((position) => position >= from));
      return entries(ofSession.all({ session, from, recent: known, known: recent.known }));
    },
    ofPartition: createPartitionReading(file, recent),
    ends: createEnds(file, recent),
  };
}

function createPartitionReading({ db }: LedgerFile, recent: RecentPositions): LedgerRows["ofPartition"] {
  /** Positions in order, list by list: a part is not looked for in a whole partition. */
  const inLists = `SELECT one.value FROM partition_positions AS list, json_each(list.positions) AS one
    WHERE list.partition = :partition AND list.last >= :from AND one.value BETWEEN :from AND :to`;
  const listed = db.prepare(`SELECT ${columns} FROM rec WHERE pos IN (${inLists} ORDER BY list.last, one.value LIMIT :limit) ORDER BY pos`);
  const rest = db.prepare(`SELECT ${columns} FROM rec WHERE pos IN (${inLists}
      UNION ALL SELECT value FROM json_each(:recent)
      UNION ALL SELECT pos FROM rec WHERE ${unlisted} AND pos BETWEEN :from AND :to AND partition = :partition) ORDER BY pos LIMIT :limit`);
  return (partition, { from, to, limit }) => {
    const first = entries(listed.all({ partition, from, to, limit }));
    if (first.length >= limit) return first;
    // The lists are at their end, where nothing of theirs is left out before the watermark: what is more begins after it.
    const next = Math.max(from, (first.at(-1)?.offset ?? 0) + 1);
    recent.refresh();
    const known = JSON.stringify(recent.ofPartition(partition).filter((position) => position >= next && position <= to));
    const more = entries(rest.all({ partition, from: next, to, limit: limit - first.length, recent: known, known: recent.known }));
    return first.length === 0 ? more : [...first, ...more];
  };
}

function createEnds({ db, partitions }: LedgerFile, recent: RecentPositions): LedgerRows["ends"] {
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const ends = db.prepare(`SELECT one.value AS partition, max(
      coalesce((SELECT max(last) FROM partition_positions WHERE partition = one.value), 0),
      coalesce((SELECT max(pos) FROM rec WHERE ${unlisted} AND partition = one.value), 0)) AS pos FROM json_each('${JSON.stringify(all)}') AS one`);
  return () => {
    recent.refresh();
    return new Map((ends.all({ known: recent.known }) as unknown as readonly { partition: number; pos: number }[]).map(({ partition, pos }) =>
      [partition, (Math.max(pos, recent.ofPartition(partition).at(-1) ?? 0) + 1) as Offset] as const));
  };
}

/** Objects of one shape, as everybody else makes entries. */
function entries(rows: readonly unknown[]): readonly LogEntry[] {
  return (rows as readonly LogEntry[]).map(({ partition, offset, time, key, value }) => ({ partition, offset, time, key, value }));
}
