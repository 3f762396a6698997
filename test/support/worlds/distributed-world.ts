/** A world on Kafka and Redis in one process: each peer has its own connections and a gate, so that it can be paused and killed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderBlobs } from "@loopledger/shared/blobs";
import { createMemoryHosts, createMemoryProcess } from "@loopledger/shared/memory";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { until } from "../until.ts";
import { distributedGrounds } from "./distributed-grounds.ts";
import { openGrounds } from "./grounds.ts";
import { gatedLedger, gatedOwnership } from "./in-process.ts";
import { makePeer } from "./peer.ts";
import { allEntries } from "./sqlite-world.ts";
import { type World, handlersOf, patientLeaseMs } from "./world.ts";

export async function distributedWorld({ leaseMs = patientLeaseMs }: { readonly leaseMs?: number } = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "loopledger-distributed-"));
  const grounds = await distributedGrounds("world");
  const clock = createSystemClock();
  const ids = createSystemIds();
  const hosts = createMemoryHosts();
  const watched = await openGrounds(grounds, folder);
  const closing: (() => Promise<void>)[] = [watched.close];
  return {
    name: grounds.name, leaseMs,
    async join({ handlers, faults, changed = (same) => same, views, ...settings }) {
      if (faults || views) throw new RangeError("faults and read models are the memory world's");
      const process = createMemoryProcess(clock);
      const blobs = openFolderBlobs({ folder: join(folder, "blobs"), clock, ids });
      const opened = await openGrounds(grounds, folder);
      closing.push(opened.close);
      const ports = {
        ledger: gatedLedger(opened.ledger, process), ownership: gatedOwnership(opened.ownership, process), blobs, clock: process.clock, ids,
        host: hosts.on("host", process), handlers: changed(handlersOf(handlers, { folder, blobs })),
      };
      return makePeer(ports, process, { leaseMs, ...settings });
    },
    entries: () => allEntries(watched.ledger),
    until: (condition, what) => until(condition, { what }) as never,
    drive: (answer) => answer,
    async close() {
      for (const close of closing.toReversed()) await close();
      await grounds.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
