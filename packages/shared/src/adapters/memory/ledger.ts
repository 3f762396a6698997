/**
 * The ledger in memory. Several processes share it through handles; each handle has its own subscriptions and its own
 * faults, all drawn from one seed. Without faults it takes no time: an append is in the log, and its own readers have it,
 * before its promise is fulfilled.
 */
import { LoopledgerError } from "../../core/errors.ts";
import { isWholeText } from "../../core/json.ts";
import { defaultPartitions, partitionOf } from "../../core/placement.ts";
import type { Offset } from "../../core/brand.ts";
import type { Clock, Ids, Ledger, LogEntry, Positions } from "../../ports/index.ts";
import type { LedgerFaults } from "./faults.ts";
import { createMemoryLog, type MemoryLog } from "./log.ts";
import { createMemoryProcess, type MemoryProcess } from "./process.ts";
import { createSeededIds, type SeededRandom, seededRandom } from "./random.ts";
import { createMemorySubscription, type MemorySubscription } from "./subscription.ts";
import { createTransport } from "./transport.ts";

export interface MemoryLedgerOptions {
  readonly clock: Clock;
  readonly ids?: Ids;
  readonly partitions?: number;
  readonly ledgerId?: string;
  /** Faults and ids are drawn from it. */
  readonly seed?: number | string;
  /** Off: a batch may be torn by the fault `split`. */
  readonly batchAtomicity?: boolean;
}
export interface MemoryHandleOptions {
  readonly process?: MemoryProcess;
  readonly faults?: LedgerFaults;
}
export interface MemoryLedger {
  readonly ledgerId: string;
  /** The whole log in append order: what an auditor is given. */
  readonly entries: readonly LogEntry[];
  handle(options?: MemoryHandleOptions): Ledger;
}

export function createMemoryLedger(options: MemoryLedgerOptions): MemoryLedger {
  const { clock, seed = 0 } = options;
  const ids = options.ids ?? createSeededIds(seed);
  const log = createMemoryLog({
    clock, ids, partitions: options.partitions ?? defaultPartitions, ledgerId: options.ledgerId ?? ids.uuid(),
  });
  const random = seededRandom(`ledger/${seed}`);
  let handles = 0;
  return {
    ledgerId: log.ledgerId,
    entries: log.entries,
    handle: ({ process = createMemoryProcess(clock), faults = {} } = {}) =>
      createHandle({
        log, clock, process, faults, random: random.fork(String(handles++)), atomic: options.batchAtomicity ?? true,
      }),
  };
}

interface Wiring {
  readonly log: MemoryLog;
  readonly clock: Clock;
  readonly process: MemoryProcess;
  readonly faults: LedgerFaults;
  readonly random: SeededRandom;
  readonly atomic: boolean;
}

function createHandle(wiring: Wiring): Ledger {
  const { log, process } = wiring;
  const sight = createSight(wiring);
  const readers = createReaders({ ...wiring, shown: sight.show });
  const transport = createTransport({ ...wiring, own: readers.own });
  let closed = false;
  const open = (): void => {
    if (closed) throw new LoopledgerError("ledger_closed", "This handle of the ledger is closed.");
  };
  const answer = <T>(value: T): Promise<T> => new Promise((done) => queueMicrotask(() => process.enter(() => done(value))));

  return {
    ledgerId: log.ledgerId,
    partitions: log.partitions,
    partitionOf: (key) => partitionOf(key, log.partitions),
    append: async (sessionId, values) => {
      open();
      if (!values.every(isWholeText)) throw new RangeError("A record holds half a character or a NUL.");
      if (values.length > 0) await transport.send(sessionId, [...values]);
    },
    read: async (partition, from, limit) => {
      open();
      return answer(sight.of(log.ofPartition(partition)).slice(from, from + limit));
    },
    readSession: async (sessionId, from) => {
      open();
      return answer(sight.of(log.ofKey(sessionId)).filter((entry) => entry.offset >= (from ?? 0)));
    },
    end: async () => {
      open();
      const end = endOf(log);
      for (const [partition, offset] of end) sight.show(partition, offset);
      return answer(end);
    },
    subscribe: async (from, listener) => {
      open();
      const end = endOf(log);
      for (const [partition, offset] of from) {
        if (offset > (end.get(partition) ?? 0)) {
          throw new LoopledgerError("ledger_lost", `Partition ${partition} was read up to ${offset} and now ends at ${end.get(partition) ?? 0}.`);
        }
        sight.show(partition, offset);
      }
      const subscription = readers.add(from, listener);
      return {
        close: subscription.close,
        caughtUp: async () => {
          await transport.idle();
          await subscription.caughtUp();
        },
      };
    },
    close: async () => {
      closed = true;
      await transport.idle();
      await readers.close();
    },
  };
}

/**
 * What a read sees: all of it, or, where the fault strikes, nothing that is younger than `staleMs`; but never less than this
 * handle has shown before, by an end, a subscription or a read.
 */
function createSight({ faults, random, clock }: Wiring) {
  const shown = new Map<number, number>();
  const show = (partition: number, end: number): void => void shown.set(partition, Math.max(end, shown.get(partition) ?? 0));
  return {
    show,
    of: (entries: readonly LogEntry[]): readonly LogEntry[] => {
      const newest = random.chance(faults.staleRead) ? clock.now() - (faults.staleMs ?? 0) : Number.POSITIVE_INFINITY;
      const visible = entries.filter((entry) => entry.time <= newest || entry.offset < (shown.get(entry.partition) ?? 0));
      const last = visible.at(-1);
      if (last !== undefined) show(last.partition, last.offset + 1);
      return visible;
    },
  };
}

function endOf(log: MemoryLog): Map<number, Offset> {
  const ends = new Map<number, Offset>();
  for (let partition = 0; partition < log.partitions; partition++) ends.set(partition, log.ofPartition(partition).length as Offset);
  return ends;
}

/** How long after a listener threw it is handed the same entries again, in ms. */
const listenerPauseMs = 100;

/** The subscriptions of one handle, and how news of the log reach them. */
function createReaders({ log, clock, process, faults, random, shown }: Wiring & { readonly shown: (partition: number, end: number) => void }) {
  const subscriptions = new Set<MemorySubscription>();
  let appending = false;
  let woken = false;
  const pumpAll = (): void => {
    woken = false;
    for (const subscription of [...subscriptions]) subscription.pump(log.entries.length);
  };
  /** Late news stay in order: a later one hands over at least what an earlier one would have. */
  const wake = (subscription: MemorySubscription): void => {
    const end = log.entries.length;
    clock.after(random.between(faults.lagMs), () => process.enter(() => subscription.pump(end)));
  };
  const unwatch = log.watch(() => {
    if (faults.lagMs !== undefined) for (const subscription of subscriptions) wake(subscription);
    else if (!appending && !woken) {
      woken = true;
      queueMicrotask(() => process.enter(pumpAll));
    }
  });
  return {
    /** Runs an append of this handle; without lag its readers have it before this returns. */
    own: (append: () => void): void => {
      appending = true;
      try {
        append();
      } finally {
        appending = false;
      }
      if (faults.lagMs === undefined) process.enter(pumpAll);
    },
    add: (from: Positions, listener: (entries: readonly LogEntry[]) => void): MemorySubscription => {
      const subscription = createMemorySubscription({
        log, from: new Map(from),
        listener: (entries) => {
          for (const { partition, offset } of entries) shown(partition, offset + 1);
          listener(entries);
        },
        piece: () => (faults.chunkMax === undefined ? 1_000 : random.between([1, faults.chunkMax])),
        onClose: () => subscriptions.delete(subscription),
        later: (call) => void clock.after(listenerPauseMs, () => process.enter(call)),
      });
      subscriptions.add(subscription);
      if (faults.lagMs === undefined) queueMicrotask(() => process.enter(() => subscription.pump(log.entries.length)));
      else wake(subscription);
      return subscription;
    },
    close: async (): Promise<void> => {
      unwatch();
      for (const subscription of [...subscriptions]) await subscription.close();
    },
  };
}
