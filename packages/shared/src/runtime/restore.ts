/** A process's start: the sessions that are alive come from the views' snapshots, what happened since from the ledger. */
import { LoopledgerError, isLoopledgerError } from "../core/errors.ts";
import type { Offset, SessionId } from "../core/brand.ts";
import { readSnapshot } from "../core/session/snapshot.ts";
import type { Ledger, Positions } from "../ports/index.ts";
import type { Engine } from "./engine.ts";

/**
 * Seeds the folds and starts them where the views end; without views, or with views that do not answer, at the ledger's
 * beginning. Sessions whose snapshot cannot be read are read from the ledger, again and again until that succeeds.
 * Throws `ledger_lost` where the views are ahead of the ledger.
 */
export async function restoreFolds(engine: Engine, projection?: string): Promise<void> {
  const { ledger, folds, supervision } = engine;
  const part = supervision.part("restore");
  const { cursors, unread } = await seedFromViews(engine, projection).catch((error: unknown) => {
    if (isLoopledgerError(error) && error.code === "ledger_lost") throw error;
    part.failed(error);
    return { cursors: new Map<number, Offset>(), unread: [] };
  });
  await folds.start(fromEach(ledger, cursors));
  await folds.caughtUp();
  for (const sessionId of unread) await folds.open(sessionId).catch((error: unknown) => part.after(part.failed(error, sessionId), () => folds.open(sessionId), sessionId));
  part.works();
}

interface Seeded { readonly cursors: Positions; readonly unread: readonly SessionId[] }
async function seedFromViews({ views, ledger, folds }: Engine, projection: string | undefined): Promise<Seeded> {
  const unread: SessionId[] = [];
  if (!views) return { cursors: new Map(), unread };
  const name = projection ?? (await views.active());
  const cursors = await views.cursors(name);
  await refuseLostLedger(ledger, cursors);
  if (cursors.size === 0) return { cursors, unread };
  for await (const { sessionId, snapshot } of views.alive(name)) {
    const read = readSnapshot(snapshot);
    if (read) folds.seed(read.state, read.next);
    else unread.push(sessionId);
  }
  return { cursors, unread };
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
