/** What both worlds inside one process share: the gate in front of a port, and how a peer is put together behind it. */
import type { MemoryProcess } from "@loopledger/shared/memory";
import type { Ledger, Ownership } from "@loopledger/shared/ports";

/** An answer from outside waits at the gate while the process is paused, and never comes once it is killed. */
function through<T>(process: MemoryProcess, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    answer.then((value) => process.enter(() => resolve(value)), (error: unknown) => process.enter(() => reject(error)));
  });
}
function ask<T>(process: MemoryProcess, question: () => Promise<T>): Promise<T> {
  return process.state === "killed" ? new Promise(() => undefined) : through(process, question());
}

/** The ledger as one process sees it. */
export function gatedLedger(ledger: Ledger, process: MemoryProcess): Ledger {
  return {
    ledgerId: ledger.ledgerId, partitions: ledger.partitions, partitionOf: (key) => ledger.partitionOf(key),
    append: (sessionId, values) => ask(process, () => ledger.append(sessionId, values)),
    read: (partition, from, limit) => ask(process, () => ledger.read(partition, from, limit)),
    readSession: (sessionId, from) => ask(process, () => ledger.readSession(sessionId, from)),
    end: () => ask(process, () => ledger.end()),
    subscribe: async (from, listener) => {
      const subscription = await ledger.subscribe(from, (entries) => process.enter(() => listener(entries)));
      return { close: () => subscription.close(), caughtUp: () => ask(process, () => subscription.caughtUp()) };
    },
    close: () => ledger.close(),
  };
}

export function gatedOwnership(ownership: Ownership, process: MemoryProcess): Ownership {
  return {
    register: async (ownerId, ttlMs) => {
      const lease = await ask(process, () => ownership.register(ownerId, ttlMs));
      return { valid: () => lease.valid(), renew: () => ask(process, () => lease.renew()), release: () => ask(process, () => lease.release()) };
    },
    holder: (ownerId) => ask(process, () => ownership.holder(ownerId)),
    tryTake: (resource, by, ttlMs) => ask(process, () => ownership.tryTake(resource, by, ttlMs)),
    gather: (group, member, ttlMs) => ask(process, () => ownership.gather(group, member, ttlMs)),
    close: () => ownership.close(),
  };
}
