/**
 * Read models on Redis: views and the partition's cursor change in one script, or not at all.
 *
 * R1. A projection is one ledger's. Those of another are not shown, and give way to the first step from the beginning that a
 *     newcomer writes; whoever has written a projection and finds it taken stops with `ledger_mismatch`, so two never take turns.
 * R2. Removing goes in parts, so that nobody else waits for it; a part that is left over is removed by the next who writes.
 * R3. Snapshots are given out only while the server still has what its cursors said: where it was emptied, or came back with
 *     less, whoever reads them is told instead of being given a hole.
 */
import { randomUUID } from "node:crypto";
import type { Offset, SessionId } from "../../core/brand.ts";
import { LoopledgerError } from "../../core/errors.ts";
import { formatViewCursor, parseViewCursor } from "../../core/view-cursor.ts";
import type { ReadModel, ViewPage } from "../../ports/index.ts";
import type { RedisOptions } from "./connection.ts";
import { clearingBy, isClearing, ownerOf, viewKeys } from "./view-keys.ts";
import { ALIVE_CHUNK, openViewStore, type Row, type Step, type ViewStore } from "./view-store.ts";

export interface RedisReadModelOptions extends RedisOptions {
  /** Everything of this system stands under it: `<prefix>:<projection>:…`. */
  readonly prefix: string;
  /** The ledger whose views are meant; those of another are not seen. */
  readonly ledgerId: string;
}

/** The projection that is read until another one is chosen. */
const FIRST = "main";

/** Throws `redis_evicts`, or `views_unreachable` where there is no Redis. */
export async function openRedisReadModel({ prefix, ...options }: RedisReadModelOptions): Promise<ReadModel> {
  const store = await openViewStore(viewKeys(prefix), options);
  const { ledgerId, log } = options;
  const own = ownerOf(ledgerId);
  /** The cursors that were shown last, by projection. */
  const shown = new Map<string, ReadonlyMap<number, Offset>>();
  return {
    cursors: async (projection) => {
      const cursors = await store.cursors(projection);
      shown.set(projection, cursors);
      return cursors;
    },
    write: createWriter(store, (projection) => log.warn({ projection, ledgerId }, "Redis: the views of another ledger give way")),
    get: (projection, sessionId) => store.view(projection, sessionId),
    list: (projection, query) => listViews(store, projection, query),
    alive: async function* (projection) {
      for (let after = ""; ; ) {
        const { cursors, items } = await store.alive(projection, after);
        refuseLoss(projection, { shown: shown.get(projection) ?? new Map(), cursors });
        yield* items;
        if (items.length < ALIVE_CHUNK) return;
        after = String(items.at(-1)?.sessionId);
      }
    },
    projections: async () => Object.entries(await store.owners()).filter(([, owner]) => owner === own).map(([name]) => name).sort(),
    active: async () => {
      const { projection, ledgerId: chosenBy } = await store.active();
      return chosenBy === ledgerId && projection !== null ? projection : FIRST;
    },
    use: (projection) => store.use(projection),
    drop: (projection) => clear(store, projection, own),
    close: async () => store.close(),
  };
}

function createWriter(store: ViewStore, onTaken: (projection: string) => void): (projection: string, step: Step) => Promise<boolean> {
  const written = new Set<string>();
  return async (projection, step) => {
    for (;;) {
      const { applied, held } = await store.write(projection, step);
      if (applied) written.add(projection);
      if (held === null) return applied;
      if (!isClearing(held)) {
        if (written.has(projection)) throw taken(projection);
        onTaken(projection);
      }
      await clear(store, projection, held);
    }
  };
}

function taken(projection: string): LoopledgerError {
  return new LoopledgerError("ledger_mismatch", `The projection ${projection} now belongs to another ledger.`);
}

/** Removes a projection that is marked so, part by part. Another who does the same at once takes nothing away from it. */
async function clear(store: ViewStore, projection: string, marked: string): Promise<void> {
  const found = (await store.owners())[projection];
  if (found === undefined || (found !== marked && !isClearing(found))) return;
  const to = isClearing(found) ? found : clearingBy(randomUUID());
  for (let from: string | null = found; from !== null; ) from = await store.clear(projection, { from, to });
}

interface Query {
  readonly disposition?: string;
  readonly label?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/** A page begins after the last row of the one before, so rows that arrive meanwhile move nothing. */
async function listViews(store: ViewStore, projection: string, { disposition, label, cursor, limit }: Query): Promise<ViewPage> {
  const sets = [...(label === undefined ? [] : [`by-label:${label}`]), ...(disposition === undefined ? [] : [`by-disposition:${disposition}`])];
  const rows: Row[] = [];
  let after: { readonly at: number; readonly sessionId: SessionId } | null = cursor === undefined ? null : parseViewCursor(cursor);
  while (rows.length <= limit) {
    const answer = await store.list(projection, { set: sets[0] ?? "sessions", other: sets[1] ?? "", after, wanted: limit + 1 - rows.length });
    rows.push(...answer.rows);
    after = answer.last;
    if (after === null) break;
  }
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(({ sessionId, document }) => ({ sessionId, document })),
    next: rows.length > limit && last !== undefined ? formatViewCursor(last) : null,
  };
}

function refuseLoss(projection: string, { shown, cursors }: { readonly shown: ReadonlyMap<number, Offset>; readonly cursors: ReadonlyMap<number, Offset> }): void {
  for (const [partition, offset] of shown) {
    if ((cursors.get(partition) ?? 0) >= offset) continue;
    throw new LoopledgerError("views_unreachable", `Redis has lost what the views of ${projection} held: partition ${partition} was at ${offset}, and is at ${cursors.get(partition) ?? 0}.`);
  }
}
