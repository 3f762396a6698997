/**
 * The sessions of a ledger, newest first. What the projector has written is taken from the views; what came after that, or all of it
 * where no projector runs, is folded here. So the list is exact at every moment.
 */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import { type ViewCursor, formatViewCursor, parseViewCursor } from "@loopledger/shared/core/view-cursor";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { LogEntry } from "@loopledger/shared/ports";
import { readStretch } from "@loopledger/shared/runtime/partition";
import type { ListQuery, ListRow } from "./reader.ts";
import type { Source } from "./source.ts";

const pageSize = 200;
const piece = 2_000;

export async function* listSessions(source: Source, query: ListQuery): AsyncGenerator<ListRow> {
  const { views } = source;
  const projection = views ? await views.active() : null;
  const cursors: ReadonlyMap<number, Offset> = views && projection !== null ? await views.cursors(projection) : new Map();
  const fresh = await sessionsSince(source, cursors);
  const after = query.cursor === undefined ? null : parseViewCursor(query.cursor);
  const own = [...fresh.values()].filter((view) => fits(view, query) && isAfter(view, after)).sort(newestFirst);
  const projected = views && projection !== null ? projectedViews(views, { projection, query, except: fresh }) : none();
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  for await (const view of merged(own, projected)) {
    if (left-- <= 0) return;
    yield { view, cursor: formatViewCursor(placeOf(view)) };
  }
}

/** The status of each session that has entries from these offsets on. */
async function sessionsSince(source: Source, from: ReadonlyMap<number, Offset>): Promise<ReadonlyMap<string, StatusView>> {
  const found = new Map<string, StatusView>();
  for (let partition = 0; partition < source.ledger.partitions; partition++) {
    const start = from.get(partition) ?? (0 as Offset);
    const entries = await entriesFrom(source, partition, start);
    for (const [sessionId, tail] of entries) {
      const history = start <= 0 ? tail : await source.ledger.readSession(sessionId as SessionId);
      const view = await statusOfEntries(source, sessionId as SessionId, history);
      if (view.asOf > 0) found.set(sessionId, view);
    }
  }
  return found;
}

async function entriesFrom({ ledger }: Source, partition: number, start: Offset): Promise<Map<string, LogEntry[]>> {
  const found = new Map<string, LogEntry[]>();
  for await (const entries of readStretch(ledger, { partition, from: start }, piece)) {
    for (const entry of entries) {
      if (isLedgerKey(entry.key)) continue;
      const known = found.get(entry.key);
      if (known) known.push(entry);
      else found.set(entry.key, [entry]);
    }
  }
  return found;
}

/** Loaded when something has to be folded: a list that the views hold whole needs none of it. */
async function statusOfEntries({ ids }: Source, sessionId: SessionId, entries: readonly LogEntry[]): Promise<StatusView> {
  const [{ foldAll }, { statusOf }] = await Promise.all([import("./folding.ts"), import("@loopledger/shared/core/session/status")]);
  return statusOf(foldAll(sessionId, entries, ids));
}

async function* none(): AsyncGenerator<StatusView> {
  // There are no views, so they list nothing.
}
interface Projected { readonly projection: string; readonly query: ListQuery; readonly except: ReadonlyMap<string, unknown> }

async function* projectedViews(views: NonNullable<Source["views"]>, { projection, query, except }: Projected): AsyncGenerator<StatusView> {
  for (let cursor = query.cursor; ; ) {
    const page = await views.list(projection, {
      limit: pageSize, ...(query.disposition !== undefined && { disposition: query.disposition }), ...(query.label !== undefined && { label: query.label }),
      ...(cursor !== undefined && { cursor }),
    });
    for (const { sessionId, document } of page.items) if (!except.has(sessionId)) yield JSON.parse(document) as StatusView;
    if (page.next === null) return;
    cursor = page.next;
  }
}

/** Two lists, each newest first, as one. */
async function* merged(own: readonly StatusView[], projected: AsyncGenerator<StatusView>): AsyncGenerator<StatusView> {
  const waiting = [...own];
  for await (const view of projected) {
    while (waiting[0] && newestFirst(waiting[0], view) < 0) yield waiting.shift() as StatusView;
    yield view;
  }
  yield* waiting;
}

function placeOf(view: StatusView): ViewCursor {
  return { at: view.at === null ? 0 : Date.parse(view.at), sessionId: view.sessionId as SessionId };
}
function newestFirst(a: StatusView, b: StatusView): number {
  const [x, y] = [placeOf(a), placeOf(b)];
  return y.at - x.at || (x.sessionId < y.sessionId ? 1 : -1);
}
function isAfter(view: StatusView, cursor: ViewCursor | null): boolean {
  if (cursor === null) return true;
  const { at, sessionId } = placeOf(view);
  return at < cursor.at || (at === cursor.at && sessionId < cursor.sessionId);
}
function fits(view: StatusView, { disposition, label }: ListQuery): boolean {
  if (disposition !== undefined && view.disposition !== disposition) return false;
  return label === undefined || Object.entries(view.labels).some(([name, value]) => `${name}=${value}` === label);
}
