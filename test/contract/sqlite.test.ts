import { openFolderBlobs } from "@loopledger/shared/blobs";
import { blobsContract, ledgerContract, ownershipContract, readModelContract } from "@loopledger/shared/contracts";
import { createVirtualClock } from "@loopledger/shared/memory";
import type { Ledger, Ownership, ReadModel } from "@loopledger/shared/ports";
import { openSqliteLedger, openSqliteOwnership, openSqliteReadModel } from "@loopledger/shared/sqlite";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import * as vitest from "vitest";
import { makeFolder } from "./folder.ts";

const clock = createSystemClock();
const ids = createSystemIds();

/** A folder and what was opened in it, closed and removed together. */
function inFolder<T extends { close(): Promise<void> }>() {
  const folder = makeFolder();
  const opened: T[] = [];
  return {
    path: folder.path,
    keep: (one: T): T => {
      opened.push(one);
      return one;
    },
    close: async () => {
      for (const one of opened) await one.close();
      folder.remove();
    },
  };
}

ledgerContract(vitest, "sqlite", async () => {
  const { path, keep, close } = inFolder<Ledger>();
  return { open: async () => keep(openSqliteLedger({ folder: path, clock, ids })), close };
});

ownershipContract(vitest, "sqlite", async () => {
  const { path, keep, close } = inFolder<Ownership>();
  const virtual = createVirtualClock();
  return { open: async () => keep(openSqliteOwnership({ folder: path, clock: virtual })), pass: virtual.advance, close };
});

readModelContract(vitest, "sqlite", async () => {
  const { path, keep, close } = inFolder<ReadModel>();
  return { open: async (ledgerId) => keep(openSqliteReadModel({ folder: path, ledgerId })), close };
});

blobsContract(vitest, "a folder", async () => {
  const { path, close } = inFolder();
  return { open: async () => openFolderBlobs({ folder: `${path}/blobs`, clock, ids }), close };
});
