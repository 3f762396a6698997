/** A world on SQLite files in one process: each peer has its own handles and a gate, so that it can be paused and killed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import { createMemoryHosts, createMemoryProcess } from "@loopledger/shared/memory";
import type { Ledger, LogEntry } from "@loopledger/shared/ports";
import { openSqliteLedger, openSqliteOwnership } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { until } from "../until.ts";
import { gatedLedger, gatedOwnership } from "./in-process.ts";
import { makePeer } from "./peer.ts";
import { type World, handlersOf, patientLeaseMs } from "./world.ts";

export function sqliteWorld({ leaseMs = patientLeaseMs }: { readonly leaseMs?: number } = {}): World {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-sqlite-"));
  const clock = createSystemClock();
  const ids = createSystemIds();
  const hosts = createMemoryHosts();
  const closing: (() => Promise<void>)[] = [];
  const watched = openSqliteLedger({ folder, clock, ids });
  return {
    name: "SQLite", leaseMs,
    async join({ handlers, faults, changed = (same) => same, views, ...settings }) {
      if (faults || views) throw new RangeError("faults and read models are the memory world's");
      const process = createMemoryProcess(clock);
      const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
      const ledger = openSqliteLedger({ folder, clock, ids });
      const ownership = openSqliteOwnership({ folder, clock });
      closing.push(() => ownership.close(), () => ledger.close());
      const ports = {
        ledger: gatedLedger(ledger, process), ownership: gatedOwnership(ownership, process), blobs, clock: process.clock, ids,
        host: hosts.on("host", process), handlers: changed(handlersOf(handlers, { folder, blobs })),
      };
      return makePeer(ports, process, { leaseMs, ...settings });
    },
    entries: () => allEntries(watched),
    until: (condition, what) => until(condition, { what }) as never,
    drive: (answer) => answer,
    async close() {
      for (const close of closing) await close();
      await watched.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function allEntries(ledger: Ledger): Promise<readonly LogEntry[]> {
  const partitions = Array.from({ length: ledger.partitions }, (_, partition) => ledger.read(partition, 0 as never, 1_000_000));
  return (await Promise.all(partitions)).flat();
}
