/** What the tests of a ledger share: its world, and ways to read all of it. */
import type { Offset, SessionId } from "../../core/brand.ts";
import type { Ledger, LogEntry, Positions } from "../../ports/index.ts";
import { readStretch } from "../../runtime/partition.ts";
import type { World } from "./suite.ts";

export interface LedgerWorld extends World {
  /** Another handle on the same ledger, as another process would have it. */
  open(): Promise<Ledger>;
}

export const session = (name: string): SessionId => name as SessionId;
export const values = (entries: readonly LogEntry[]): (string | null)[] => entries.map((entry) => entry.value);
/** Positions before everything. */
export const fromStart = (ledger: Ledger): Positions =>
  new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, 0 as Offset]));
/** Everything in the log, a partition after the other. */
export async function readAll(ledger: Ledger, limit = 7): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let partition = 0; partition < ledger.partitions; partition++) {
    for await (const piece of readStretch(ledger, { partition, from: 0 as Offset }, limit)) entries.push(...piece);
  }
  return entries;
}
