/** A process's start: the sessions that are alive come from the views' snapshots, what happened since from the ledger. */
import { LoopledgerError } from "../core/errors.ts";
import type { Offset } from "../core/brand.ts";
import { readSnapshot } from "../core/session/snapshot.ts";
import type { Ledger, Positions } from "../ports/index.ts";
import type { Engine } from "./engine.ts";

/**
 * Seeds the folds and starts them where the views end; without views, at the ledger's beginning. Sessions whose snapshot
 * cannot be read are read from the ledger. Throws `ledger_lost` where the views are ahead of the ledger.
 */
export async function restoreFolds(engine: Engine, projection?: string): Promise<void> {
  const { views, ledger, folds } = engine;
  const name = projection ?? (await views?.active());
  const cursors = name === undefined ? undefined : await views?.cursors(name);
  if (cursors) await refuseLostLedger(ledger, cursors);
  const unread = [];
  if (views && name !== undefined && cursors && cursors.size > 0) {
    for await (const { sessionId, snapshot } of views.alive(name)) {
      const read = readSnapshot(snapshot);
      if (read) folds.seed(read.state, read.next);
      else unread.push(sessionId);
    }
  }
  await folds.start(fromEach(ledger, cursors ?? new Map()));
  await folds.caughtUp();
  for (const sessionId of unread) await folds.open(sessionId);
}

/** A position for every partition: the one that is known, else its beginning. */
export function fromEach(ledger: Ledger, known: Positions): Map<number, Offset> {
  return new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, known.get(partition) ?? (0 as Offset)] as const));
}

/** Throws `ledger_lost` where something has been read that the ledger does not hold any more. */
export async function refuseLostLedger(ledger: Ledger, cursors: Positions): Promise<void> {
  const ends = await ledger.end();
  for (const [partition, cursor] of cursors) {
    const end = ends.get(partition) ?? 0;
    if (cursor <= end) continue;
    throw new LoopledgerError("ledger_lost", `The views of partition ${partition} go up to ${cursor}, and the ledger ends at ${end}.`);
  }
}
