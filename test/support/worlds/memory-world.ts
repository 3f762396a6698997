/** A world in memory, on virtual time: nothing happens unless somebody waits for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createMemoryBlobs, createMemoryHosts, createMemoryLedger, createMemoryOwnership, createMemoryProcess, createMemoryReadModel, createSeededIds, createVirtualClock,
} from "@loopledger/shared/memory";
import { type Peer, makePeer } from "./peer.ts";
import { type World, handlersOf } from "./world.ts";

/** Virtual time in which everything awaited has long happened. */
const patienceMs = 120_000;
const stepMs = 10;

export interface MemoryWorldOptions {
  readonly leaseMs?: number;
  readonly seed?: number;
  readonly batchAtomicity?: boolean;
}

export function memoryWorld({ leaseMs = 2_000, seed = 1, batchAtomicity = true }: MemoryWorldOptions = {}): World {
  const clock = createVirtualClock();
  const ids = createSeededIds(seed);
  const ledger = createMemoryLedger({ clock, ids, seed, batchAtomicity });
  const ownership = createMemoryOwnership({ clock, seed });
  const hosts = createMemoryHosts();
  const blobs = createMemoryBlobs();
  const readModel = createMemoryReadModel({ clock, seed });
  const folder = mkdtempSync(join(tmpdir(), "loopledger-memory-"));
  return {
    name: "memory", leaseMs,
    async join({ handlers, faults, changed = (same) => same, views, ...settings }): Promise<Peer> {
      const process = createMemoryProcess(clock);
      const ports = {
        ...(views && { views: views(readModel.handle({ ledgerId: ledger.ledgerId, process })) }),
        ledger: ledger.handle({ process, ...(faults && { faults }) }), ownership: ownership.handle({ process }), blobs, clock: process.clock, ids,
        host: hosts.on("host", process), handlers: changed(handlersOf(handlers, { folder, blobs })),
      };
      const joined = makePeer(ports, process, { leaseMs, ...settings });
      return pump(joined);
    },
    entries: () => Promise.resolve([...ledger.entries]),
    async until(condition, what) {
      for (let waitedMs = 0; waitedMs <= patienceMs; waitedMs += stepMs) {
        const value = await condition();
        if (value) return value;
        await clock.advance(stepMs);
      }
      throw new Error(`waited ${patienceMs} ms of virtual time in vain for ${what}`);
    },
    drive: pump,
    close: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };

  /** Time goes on until the promise is settled. */
  async function pump<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const over = promise.finally(() => {
      settled = true;
    });
    over.catch(() => undefined);
    while (!settled) await clock.advance(stepMs);
    return over;
  }
}
