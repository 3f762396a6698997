/** Pages of a session's events: accepted records after a seq, and on request the refused ones between them. */
import type { EventId, Offset } from "@loopledger/shared/core/brand";
import { type SessionState, emptySession } from "@loopledger/shared/core/session/state";
import { withCause } from "./causes.ts";
import { type Bookmark, type Judged, judgeSession } from "./history.ts";
import type { Service } from "./service.ts";

export interface EventsQuery {
  readonly after: number;
  readonly limit: number;
  /** Refused records too. */
  readonly void: boolean;
}
export interface EventsPage {
  readonly items: readonly object[];
  /** What the next page begins after; null where there is no more now. */
  readonly next: string | null;
}
const bookmarksMax = 200;

/** The limit counts accepted records, so that a page's end is always a seq. */
export async function eventsPage(service: Service, { sessionId, seq }: SessionState, query: EventsQuery): Promise<EventsPage> {
  const items: object[] = [];
  let accepted = 0;
  let reached = query.after;
  if (query.after >= seq && !query.void) return { items, next: null };
  const from = service.bookmarks.get(markOf(sessionId, query.after)) ?? { state: emptySession(sessionId), next: 0 as Offset, seqs: new Map<EventId, number>() };
  for await (const judged of judgeSession(service.engine, sessionId, from)) {
    const { verdict, state, entry } = judged;
    const isPassed = verdict.kind === "accepted" ? verdict.seq <= query.after : state.seq < query.after;
    if (isPassed) continue;
    if (accepted === query.limit && (query.void || verdict.kind === "accepted")) return { items, next: String(reached) };
    const item = query.void || verdict.kind === "accepted" ? rowOf(judged) : null;
    if (item) items.push(item);
    if (verdict.kind !== "accepted") continue;
    accepted++;
    reached = verdict.seq;
    if (accepted === query.limit) mark(service, markOf(sessionId, reached), { state, next: (entry.offset + 1) as Offset, seqs: from.seqs });
  }
  return { items, next: null };
}

function markOf(sessionId: string, seq: number): string {
  return `${seq} ${sessionId}`;
}
function mark({ bookmarks }: Service, name: string, bookmark: Bookmark): void {
  bookmarks.delete(name);
  bookmarks.set(name, bookmark);
  const [oldest] = bookmarks.keys();
  if (bookmarks.size > bookmarksMax && oldest !== undefined) bookmarks.delete(oldest);
}

/** The envelope, its seq and its cause's; of a refused record the envelope as far as it can be read, and why it changed nothing. */
function rowOf({ parsed, verdict, entry, causeSeq }: Judged): object {
  const envelope = parsed.kind === "record" ? withCause(parsed.record, causeSeq) : membersOf(entry.value ?? "");
  const detail = parsed.kind === "record" ? {} : { detail: parsed.detail };
  switch (verdict.kind) {
    case "accepted": return { ...envelope, seq: verdict.seq };
    case "void": return { ...envelope, void: verdict.reason, ...detail };
    case "held": return { ...envelope, held: verdict.detail };
  }
}
function membersOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // It is shown as text below.
  }
  return { text: text.slice(0, 4_000) };
}
