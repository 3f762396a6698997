/** Reading the ledger's file. Every call is one finished statement, so no read ever holds a checkpoint up. */
import type { Offset } from "../../core/brand.ts";
import type { LogEntry } from "../../ports/index.ts";
import type { LedgerFile } from "./ledger-file.ts";

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

export function createLedgerRows({ db, partitions }: LedgerFile): LedgerRows {
  const columns = "partition, pos AS offset, time, session AS key, value";
  const last = db.prepare("SELECT max(pos) AS pos FROM rec");
  const range = db.prepare(`SELECT ${columns} FROM rec WHERE pos BETWEEN ? AND ? ORDER BY pos LIMIT ?`);
  const ofPartition = db.prepare(`SELECT ${columns} FROM rec WHERE partition = ? AND pos BETWEEN ? AND ? ORDER BY pos LIMIT ?`);
  const ofSession = db.prepare(`SELECT ${columns} FROM rec WHERE session = ? AND pos >= ? ORDER BY pos`);
  const end = db.prepare("SELECT max(pos) AS pos FROM rec WHERE partition = ?");
  const entries = (rows: readonly unknown[]): readonly LogEntry[] => (rows as readonly LogEntry[]).map((row) => ({ ...row }));
  const position = (row: unknown): number => (row as { pos: number | null } | undefined)?.pos ?? 0;
  return {
    partitions,
    last: () => position(last.get()),
    range: ({ from, to, limit }) => entries(range.all(from, to, limit)),
    ofPartition: (partition, { from, to, limit }) => entries(ofPartition.all(partition, from, to, limit)),
    ofSession: (session, from) => entries(ofSession.all(session, from)),
    ends: () => new Map(Array.from({ length: partitions }, (_, p) => [p, (position(end.get(p)) + 1) as Offset] as const)),
  };
}
