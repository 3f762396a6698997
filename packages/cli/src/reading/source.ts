/**
 * Opens what a reading command needs and nothing else: no engine, no handlers, no log. A data folder without a ledger reads
 * as empty and stays as it is.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Blobs, Clock, Ids, Ledger, ReadModel } from "@loopledger/shared/ports";
import { createSystemClock, createSystemIds } from "@loopledger/shared/system";
import { refuseNoFolder } from "@loopledger/composition/ports/data-folder";
import type { CommandContext } from "../context.ts";

export interface Source {
  readonly ledger: Ledger;
  /** Null where the views cannot be read: the ledger always suffices. */
  readonly views: ReadModel | null;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Opened when a payload is first wanted. */
  blobs(): Promise<Blobs>;
  close(): Promise<void>;
}

/** Throws `data_folder_unusable` where the data folder is something else. */
export async function openSource(context: CommandContext): Promise<Source> {
  if (context.environment.kafkaBrokers === null) refuseNoFolder(context.dataFolder);
  const embedded = context.environment.kafkaBrokers === null && existsSync(join(context.dataFolder, "ledger.db"));
  return embedded ? openFolder(context.dataFolder) : openComposed(context);
}

async function openFolder(folder: string): Promise<Source> {
  const clock = createSystemClock();
  const ids = createSystemIds();
  const { openSqliteLedger, openSqliteReadModel } = await import("@loopledger/shared/sqlite");
  const ledger = openSqliteLedger({ folder, clock, ids });
  const views = readable(() => openSqliteReadModel({ folder, ledgerId: ledger.ledgerId }), existsSync(join(folder, "views.db")));
  return {
    ledger, views, clock, ids,
    blobs: async () => (await import("@loopledger/shared/blobs")).openFolderBlobs({ folder: join(folder, "blobs"), clock, ids }),
    close: async () => {
      await views?.close();
      await ledger.close();
    },
  };
}

/** Views that cannot be opened are no reason to say nothing. */
function readable(open: () => ReadModel, exists: boolean): ReadModel | null {
  if (!exists) return null;
  try {
    return open();
  } catch {
    return null;
  }
}

/** Any other ledger, as the engine's composition opens it. */
async function openComposed(context: CommandContext): Promise<Source> {
  const { engine, ledger, views, close } = await context.openEngine({ reads: true, still: true, views: true });
  return { ledger, views, clock: engine.clock, ids: engine.ids, blobs: async () => engine.blobs, close };
}

/** Opens, works and closes, whatever comes of it. */
export async function withSource<T>(context: CommandContext, work: (source: Source) => Promise<T>): Promise<T> {
  const source = await openSource(context);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
