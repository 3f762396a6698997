/** The ports of a data folder: SQLite files, and a folder of blobs. What reads a folder without a ledger gets an empty ledger in memory. */
import { openFolderBlobs } from "@loopledger/shared/blobs";
import type { Deployment } from "../settings/deployment.ts";
import { hasLedger, makeDataFolder } from "./data-folder.ts";
import type { DataPorts, Opening } from "./data-ports.ts";

export async function openEmbedded({ dataFolder: folder, blobsFolder }: Deployment, { clock, ids, log, supervision, reads, views }: Opening): Promise<DataPorts> {
  if (reads && !hasLedger(folder)) return emptyPorts({ clock, ids });
  makeDataFolder(folder);
  const { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } = await import("@loopledger/shared/sqlite");
  const ledger = openSqliteLedger({
    folder, clock, ids, log: (error) => log.error({ err: error }, "ledger"),
    reactors: supervision && { commits: supervision.part("ledger.commits"), bell: supervision.part("ledger.bell") },
  });
  return {
    ledger,
    ownership: openSqliteOwnership({ folder, clock }),
    blobs: openFolderBlobs({ folder: blobsFolder, clock, ids }),
    ...(views && { views: openSqliteReadModel({ folder, ledgerId: ledger.ledgerId }) }),
  };
}

/** Looking around makes no files. */
async function emptyPorts({ clock, ids }: Pick<Opening, "clock" | "ids">): Promise<DataPorts> {
  const memory = await import("@loopledger/shared/memory");
  const ledger = memory.createMemoryLedger({ clock, ids }).handle();
  return {
    ledger,
    ownership: memory.createMemoryOwnership({ clock }).handle(),
    blobs: memory.createMemoryBlobs(),
    views: memory.createMemoryReadModel({ clock }).handle({ ledgerId: ledger.ledgerId }),
  };
}
