/**
 * Lists of sessions, newest first, a page behind the last row of the one before. What this process has folded is exact and
 * stands for itself; of all others, ended long ago or never met here, the views tell.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import { canonicalJson } from "@loopledger/shared/core/json";
import { type ViewCursor, formatViewCursor, parseViewCursor } from "@loopledger/shared/core/view-cursor";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { standingOf, statusOf } from "@loopledger/shared/core/session/status";
import type { ViewPage } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";

export interface ListQuery {
  readonly disposition?: string | undefined;
  readonly label?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}
interface Listed extends ViewCursor {
  readonly document: () => string;
}

/** Throws `invalid_cursor`. */
export async function listSessions(engine: Engine, query: ListQuery): Promise<ViewPage> {
  const after = query.cursor === undefined ? null : parseViewCursor(query.cursor);
  const folded = foldedRows(engine, query, after);
  const rows = [...folded, ...(await viewRows(engine, query))].sort(newestFirst);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    items: page.map(({ sessionId, document }) => ({ sessionId, document: document() })),
    next: rows.length > query.limit && last ? formatViewCursor(last) : null,
  };
}

function newestFirst(a: ViewCursor, b: ViewCursor): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.sessionId === b.sessionId ? 0 : a.sessionId < b.sessionId ? 1 : -1;
}

function foldedRows({ folds }: Engine, { disposition, label }: ListQuery, after: ViewCursor | null): Listed[] {
  return folds.ids().flatMap((sessionId) => {
    const state = folds.peek(sessionId);
    if (!state || (!state.submission && !state.hold)) return [];
    const row = { at: state.at ?? state.hold?.since ?? 0, sessionId, document: () => canonicalJson(statusOf(state)) };
    if (after && newestFirst(after, row) >= 0) return [];
    if (disposition !== undefined && standingOf(state).disposition !== disposition) return [];
    return label === undefined || hasLabel(state, label) ? [row] : [];
  });
}
function hasLabel(state: SessionState, label: string): boolean {
  return Object.entries(state.submission?.goal.labels ?? {}).some(([name, value]) => `${name}=${value}` === label);
}

/** One row more than a page, of sessions that are not in memory. */
async function viewRows({ views, folds }: Engine, { disposition, label, cursor, limit }: ListQuery): Promise<Listed[]> {
  if (!views) return [];
  const projection = await views.active();
  const rows: Listed[] = [];
  for (let next: string | null = cursor ?? ""; next !== null && rows.length <= limit; ) {
    const page: ViewPage = await views.list(projection, {
      limit: limit + 1, ...(disposition !== undefined && { disposition }), ...(label !== undefined && { label }), ...(next !== "" && { cursor: next }),
    });
    for (const { sessionId, document } of page.items) {
      if (folds.peek(sessionId) === undefined) rows.push({ at: timeOf(document), sessionId: sessionId as SessionId, document: () => document });
    }
    next = page.next;
  }
  return rows;
}
/** A held session without an accepted record has no time; it was written under its hold's. */
function timeOf(document: string): number {
  const { at, waitingOn } = JSON.parse(document) as { readonly at: string | null; readonly waitingOn?: readonly { readonly since: string }[] };
  const time = at ?? waitingOn?.[0]?.since;
  return time === undefined ? 0 : Date.parse(time);
}
