/** A process's start: the sessions that are alive come from the views' snapshots, what happened since from the ledger. */
import { LoopledgerError, isLoopledgerError } from "../core/errors.ts";
import type { Offset, SessionId } from "../core/brand.ts";
import { readSnapshot } from "../core/session/snapshot.ts";
import type { Ledger, Positions } from "../ports/index.ts";
import type { Engine } from "./engine.ts";

/** Sessions that are put in place before this process takes work; those that only wait follow while it works. */
const firstMax = 500;
/** Sessions that are put in place in one turn of the event loop afterwards. */
const turn = 100;

type Alive = AsyncIterator<{ sessionId: SessionId; snapshot: string }>;

/**
 * Seeds the folds and starts them where the views end; without views, or with views that do not answer, at the ledger's
 * beginning. Sessions whose snapshot cannot be read are read from the ledger, again and again until that succeeds.
 * Of very many sessions the first are there when it resolves; the others come after it, and an entry of one of them reads its history.
 * Throws `ledger_lost` where the views are ahead of the ledger.
 */
export async function restoreFolds(engine: Engine, projection?: string): Promise<void> {
  const { ledger, folds, supervision } = engine;
  const part = supervision.part("restore");
  const { cursors, unread, rest } = await seedFromViews(engine, projection).catch((error: unknown) => {
    if (isLoopledgerError(error) && error.code === "ledger_lost") throw error;
    part.failed(error);
    return { cursors: new Map<number, Offset>(), unread: [], rest: null };
  });
  await folds.start(fromEach(ledger, cursors));
  await folds.caughtUp();
  await openAll(engine, unread);
  if (rest) seedRest(engine, rest);
  else part.works();
}

/** Reads each of them from the ledger; one that cannot be read now is read again after a pause, and holds up none behind it. */
async function openAll({ folds, supervision }: Engine, sessionIds: readonly SessionId[]): Promise<void> {
  for (const sessionId of sessionIds) {
    await folds.open(sessionId).catch((error: unknown) => supervision.part("restore").again(error, () => folds.open(sessionId), sessionId));
  }
}

interface Seeded {
  readonly cursors: Positions;
  readonly unread: readonly SessionId[];
  /** Reads the sessions that are alive from the beginning on, and where the reading stands; null where all are in place. */
  readonly rest: { readonly again: () => Alive; readonly from: Alive } | null;
}
async function seedFromViews(engine: Engine, projection: string | undefined): Promise<Seeded> {
  const { views, ledger } = engine;
  if (!views) return { cursors: new Map(), unread: [], rest: null };
  const name = projection ?? (await views.active());
  const cursors = await views.cursors(name);
  await refuseViewsAhead(ledger, cursors);
  if (cursors.size === 0) return { cursors, unread: [], rest: null };
  const again = (): Alive => views.alive(name)[Symbol.asyncIterator]();
  const from = again();
  const { unread, isOver } = await seedSome(engine, from, firstMax);
  return { cursors, unread, rest: isOver ? null : { again, from } };
}

/** Puts the next sessions in place, at most `max`; gives those that have to be read from the ledger. */
async function seedSome({ folds }: Engine, alive: Alive, max: number): Promise<{ readonly unread: SessionId[]; readonly isOver: boolean }> {
  const unread: SessionId[] = [];
  for (let count = 0; count < max; count++) {
    const { value, done } = await alive.next();
    if (done) return { unread, isOver: true };
    const read = readSnapshot(value.snapshot);
    if (!read || !folds.seed(read.state, read.next)) unread.push(value.sessionId);
  }
  return { unread, isOver: false };
}

/** In small pieces, so that the work of this process goes on between them. Views that stop answering are read from their beginning again. */
function seedRest(engine: Engine, { again, from }: { readonly again: () => Alive; readonly from: Alive }): void {
  const { folds, supervision } = engine;
  const part = supervision.part("restore");
  let alive: Alive | null = from;
  const go = async (): Promise<void> => {
    if (!folds.following) return;
    const reading: Alive = alive ?? again();
    alive = null;
    const { unread, isOver } = await seedSome(engine, reading, turn);
    await openAll(engine, unread);
    alive = reading;
    if (!isOver) part.after(1, go);
  };
  part.after(1, go);
}

/** A position for every partition: the one that is known, else its beginning. */
export function fromEach(ledger: Ledger, known: Positions): Map<number, Offset> {
  return new Map(Array.from({ length: ledger.partitions }, (_, partition) => [partition, known.get(partition) ?? (0 as Offset)] as const));
}

/** Throws `ledger_lost` where something has been read that the ledger does not hold any more. */
export async function refuseViewsAhead(ledger: Ledger, cursors: Positions): Promise<void> {
  const ends = await ledger.end();
  for (const [partition, cursor] of cursors) {
    const end = ends.get(partition) ?? 0;
    if (cursor <= end) continue;
    throw new LoopledgerError("ledger_lost", `The views of partition ${partition} go up to ${cursor}, and the ledger ends at ${end}.`);
  }
}
