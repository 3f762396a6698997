/** The log that the handles of one memory ledger share. It is appended to at once and in one piece; faults lie between it and a handle. */
import type { LogTime, Offset } from "../../core/brand.ts";
import { ledgerKey, partitionOf } from "../../core/placement.ts";
import type { Clock, Ids, LogEntry } from "../../ports/index.ts";

export interface MemoryLog {
  readonly ledgerId: string;
  readonly partitions: number;
  /** Everything in the order in which it was appended. */
  readonly entries: readonly LogEntry[];
  ofPartition(partition: number): readonly LogEntry[];
  ofKey(key: string): readonly LogEntry[];
  append(key: string, values: readonly string[]): void;
  /** Called after each append; the returned function ends it. */
  watch(call: () => void): () => void;
}

export function createMemoryLog(options: { clock: Clock; ids: Ids; partitions: number; ledgerId: string }): MemoryLog {
  const { clock, ids, partitions, ledgerId } = options;
  const entries: LogEntry[] = [];
  const byPartition: LogEntry[][] = Array.from({ length: partitions }, () => []);
  const byKey = new Map<string, LogEntry[]>();
  const watchers = new Set<() => void>();

  const put = (partition: number, key: string, values: readonly string[]): void => {
    const log = byPartition[partition] as LogEntry[];
    const time = Math.max(clock.now(), entries.at(-1)?.time ?? 0) as LogTime;
    const session = byKey.get(key) ?? [];
    byKey.set(key, session);
    for (const value of values) {
      const entry: LogEntry = { partition, offset: log.length as Offset, time, key, value };
      log.push(entry);
      entries.push(entry);
      session.push(entry);
    }
  };

  for (let partition = 0; partition < partitions; partition++) {
    const at = new Date(clock.now()).toISOString();
    put(partition, ledgerKey(partition), [JSON.stringify({
      v: 1, ledgerId, eventId: ids.uuid(), sessionId: ledgerKey(partition), type: "ledger_initialised", typeVersion: 1, at,
      actor: { kind: "store", id: "memory" }, data: { ledgerId, partitions, format: 1 },
    })]);
  }
  return {
    ledgerId,
    partitions,
    entries,
    ofPartition: (partition) => byPartition[partition] ?? [],
    ofKey: (key) => byKey.get(key) ?? [],
    append: (key, values) => {
      put(partitionOf(key, partitions), key, values);
      for (const watcher of [...watchers]) watcher();
    },
    watch: (call) => {
      watchers.add(call);
      return () => watchers.delete(call);
    },
  };
}
