/** The reader of a gateway: the same answers over HTTP. */
import type { SessionId } from "@loopledger/shared/core/brand";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { CheckpointView } from "@loopledger/shared/core/session/checkpoint-view";
import type { Explanation } from "@loopledger/shared/core/session/explain";
import type { StatusView } from "@loopledger/shared/core/session/status";
import { formatViewCursor } from "@loopledger/shared/core/view-cursor";
import type { EventRow } from "../reading/event-rows.ts";
import type { EventsQuery, ListQuery, ListRow, Reader, ShownCheckpoint } from "../reading/reader.ts";
import { framesOf } from "./event-stream.ts";
import { GatewayRefusal, type Remote, ask, send, sessionPath, unreachable, withQuery } from "./gateway.ts";

type Item = LedgerRecord & { readonly seq?: number; readonly void?: string; readonly held?: string; readonly detail?: string };
interface Page<T> { readonly items: readonly T[]; readonly next: string | number | null }

const pageSize = 200;
/** How often a stream that broke is begun anew before the gateway counts as gone, and the pause before it. */
const triesMax = 20;
const pauseMs = 500;

export class RemoteReader implements Reader {
  readonly #remote: Remote;

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  status(sessionId: string): Promise<StatusView> {
    return ask(this.#remote, { path: sessionPath(sessionId) });
  }

  async *watch(sessionId: string, signal: AbortSignal): AsyncGenerator<StatusView> {
    let view = await this.status(sessionId);
    yield view;
    for await (const seq of this.#seqs(sessionId, { after: view.asOf, signal })) {
      if (seq <= view.asOf) continue;
      view = await this.status(sessionId);
      yield view;
    }
  }
  async *#seqs(sessionId: string, from: { readonly after: number; readonly signal: AbortSignal }): AsyncGenerator<number> {
    for await (const row of this.#stream(sessionId, from)) if (row.kind === "accepted") yield row.seq;
  }

  async *list({ disposition, label, limit, cursor }: ListQuery): AsyncGenerator<ListRow> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    for (let next: string | number | null = cursor ?? ""; next !== null && left > 0; ) {
      const path: string = withQuery("/v1/sessions", { disposition, label, cursor: next === "" ? null : next, limit: Math.min(pageSize, left) });
      const page: Page<StatusView> = await ask<Page<StatusView>>(this.#remote, { path });
      for (const view of page.items) {
        if (left-- <= 0) return;
        yield { view, cursor: formatViewCursor({ at: view.at === null ? 0 : Date.parse(view.at), sessionId: view.sessionId as SessionId }) };
      }
      next = page.next;
    }
  }

  async *events(sessionId: string, query: EventsQuery): AsyncGenerator<EventRow> {
    let { after } = query;
    for (let more = true; more; ) {
      const path = withQuery(sessionPath(sessionId, "events"), { after, limit: pageSize, void: query.refused ? true : null });
      const page = await ask<Page<Item>>(this.#remote, { path });
      for (const item of page.items) {
        const row = rowOf(item, after);
        if (row.kind === "accepted") after = row.seq;
        yield row;
      }
      more = page.next !== null && page.items.length > 0;
      if (more) after = Number(page.next);
    }
    if (query.follow) yield* this.#stream(sessionId, { after, signal: query.signal });
  }

  explain(sessionId: string, at: number | null): Promise<Explanation> {
    return ask(this.#remote, { path: withQuery(sessionPath(sessionId, "explain"), { at }) });
  }

  async pending(): Promise<readonly CheckpointView[]> {
    const found: CheckpointView[] = [];
    for (let next: string | number | null = ""; next !== null; ) {
      const path: string = withQuery("/v1/approvals", { cursor: next === "" ? null : next });
      const page: Page<CheckpointView> = await ask<Page<CheckpointView>>(this.#remote, { path });
      found.push(...page.items);
      next = page.next;
    }
    return found;
  }

  async checkpoint(sessionId: string, checkpoint: string): Promise<ShownCheckpoint> {
    const { markdown, ...view } = await ask<CheckpointView & { readonly markdown: string }>(this.#remote, { path: sessionPath(sessionId, "checkpoints", checkpoint) });
    return { view, markdown };
  }

  async payload(sessionId: string, digest: string): Promise<Uint8Array | null> {
    try {
      const response = await send(this.#remote, { path: sessionPath(sessionId, "blobs", digest), headers: { accept: "application/octet-stream" } });
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (error instanceof GatewayRefusal && (error.code === "unknown_blob" || error.code === "not_found")) return null;
      throw error;
    }
  }
  async close(): Promise<void> {
    // Requests end by themselves; nothing is kept open.
  }

  /** What comes after a seq. A stream that breaks is begun again where it was, for a while. */
  async *#stream(sessionId: string, { after, signal }: { readonly after: number; readonly signal: AbortSignal }): AsyncGenerator<EventRow> {
    let last = after;
    for (let tries = 0; !signal.aborted; ) {
      try {
        const response = await send(this.#remote, {
          path: sessionPath(sessionId, "stream"), signal, headers: { accept: "text/event-stream", "last-event-id": String(last) },
        });
        for await (const { data } of framesOf(response.body ?? new ReadableStream())) {
          const row = rowOf(JSON.parse(data) as Item, last);
          if (row.kind === "accepted") last = row.seq;
          tries = 0;
          yield row;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof GatewayRefusal && error.exitCode !== 7) throw error;
        if (++tries >= triesMax) throw error instanceof GatewayRefusal ? error : unreachable(this.#remote, error);
      }
      await pause(signal);
    }
  }
}

function rowOf(item: Item, after: number): EventRow {
  const { seq, void: reason, held, detail, ...envelope } = item;
  const record = envelope as unknown as LedgerRecord;
  const time = Date.parse(record.at) || 0;
  if (reason === undefined && held === undefined) return { kind: "accepted", seq: seq ?? after + 1, record, time };
  return { kind: "refused", after, reason: reason ?? "held", detail: held ?? detail ?? null, envelope: { ...record }, time };
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, pauseMs);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
