/** The way of an append from a process to the memory log and back, with everything that can happen to it. */
import { LoopledgerError } from "../../core/errors.ts";
import type { Clock } from "../../ports/index.ts";
import type { LedgerFaults } from "./faults.ts";
import type { MemoryLog } from "./log.ts";
import type { MemoryProcess } from "./process.ts";
import type { SeededRandom } from "./random.ts";

export interface Transport {
  /** Fulfilled when the log has the batch and the answer came back; rejected after a time without an answer. */
  send(key: string, values: readonly string[]): Promise<void>;
  /** Fulfilled once everything sent before has been answered, one way or the other. */
  idle(): Promise<void>;
}

interface TransportOptions {
  readonly log: MemoryLog;
  readonly clock: Clock;
  readonly process: MemoryProcess;
  readonly faults: LedgerFaults;
  readonly random: SeededRandom;
  readonly atomic: boolean;
  readonly own: (append: () => void) => void;
}

export function createTransport(options: TransportOptions): Transport {
  const open = new Set<Promise<void>>();
  const direct = createDirectPath(options);
  const faulty = createFaultyPath(options);
  return {
    send: (key, values) => {
      const sent = Object.keys(options.faults).length === 0 ? direct(key, values) : faulty(key, values);
      open.add(sent);
      const over = (): void => {
        open.delete(sent);
      };
      sent.then(over, over);
      return sent;
    },
    idle: async () => {
      await Promise.allSettled([...open]);
    },
  };
}

/** What waits in one turn goes out together, as on the other adapters. */
function createDirectPath({ log, process, own }: TransportOptions) {
  let queue: { readonly key: string; readonly values: readonly string[]; readonly done: () => void }[] = [];
  const flush = (): void => {
    const batch = queue;
    queue = [];
    own(() => {
      for (const { key, values } of batch) log.append(key, values);
    });
    for (const { done } of batch) process.enter(done);
  };
  return (key: string, values: readonly string[]): Promise<void> =>
    new Promise((done) => {
      // A process that was killed sends nothing any more; one that is paused does not run, so it cannot get here.
      if (process.state === "killed") return;
      if (queue.length === 0) queueMicrotask(flush);
      queue.push({ key, values, done });
    });
}

function createFaultyPath({ log, clock, process, faults, random, atomic, own }: TransportOptions) {
  /** When the last request of a key arrives: a later one of the same key does not overtake it. */
  const arrivals = new Map<string, number>();
  const arrivalOf = (key: string): number => {
    const at = Math.max(clock.monotonic() + random.between(faults.delayMs), arrivals.get(key) ?? 0);
    arrivals.set(key, at);
    return at - clock.monotonic();
  };
  const apply = (key: string, values: readonly string[]): void => own(() => log.append(key, values));
  const tear = (key: string, values: readonly string[]): void => {
    const head = random.between([1, values.length - 1]);
    apply(key, values.slice(0, head));
    if (random.chance(0.5)) clock.after(random.between(faults.delayMs), () => apply(key, values.slice(head)));
  };
  return (key: string, values: readonly string[]): Promise<void> =>
    new Promise((done, fail) => {
      if (process.state === "killed") return;
      const cancel = clock.after(faults.timeoutMs ?? 1_000, () => process.enter(() => fail(
        new LoopledgerError("ledger_unreachable", "The ledger did not answer in time; whether it took the records is unknown."))));
      if (random.chance(faults.drop)) return;
      clock.after(arrivalOf(key), () => {
        const torn = !atomic && values.length > 1 && random.chance(faults.split);
        if (torn) tear(key, values);
        else apply(key, values);
        if (random.chance(faults.duplicate)) clock.after(random.between(faults.delayMs), () => apply(key, values));
        if (random.chance(faults.loseAck)) return;
        clock.after(random.between(faults.delayMs), () => process.enter(() => {
          cancel();
          done();
        }));
      });
    });
}
