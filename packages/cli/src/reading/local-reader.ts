/** The reader of a ledger on this host: from the views where they are up to date, else from the records. */
import type { LogTime, Offset, Seq, SessionId } from "@loopledger/shared/core/brand";
import type { CheckpointView } from "@loopledger/shared/core/session/checkpoint-view";
import type { Explanation } from "@loopledger/shared/core/session/explain";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { LogEntry } from "@loopledger/shared/ports";
import { unknownSession } from "../errors.ts";
import type { EventRow } from "./event-rows.ts";
import { followSession } from "./following.ts";
import { nearestSession, noSuchCheckpoint, seqAhead } from "./missing.ts";
import type { EventsQuery, ListQuery, ListRow, Reader, ShownCheckpoint } from "./reader.ts";
import { listSessions } from "./session-list.ts";
import type { Source } from "./source.ts";

export class LocalReader implements Reader {
  readonly #source: Source;
  /** The data folder or the brokers, for sentences. */
  readonly #where: string;

  constructor(source: Source, where: string) {
    this.#source = source;
    this.#where = where;
  }

  async status(sessionId: string): Promise<StatusView> {
    return (await this.#projected(sessionId as SessionId)) ?? this.#derive(await this.#stateOf(sessionId));
  }

  async *watch(sessionId: string, signal: AbortSignal): AsyncGenerator<StatusView> {
    const { SessionFold } = await import("./folding.ts");
    const fold = new SessionFold(sessionId as SessionId, this.#source.ids);
    for await (const entries of followSession(this.#source.ledger, sessionId as SessionId, { signal })) {
      fold.takeAll(entries);
      if (fold.state.seq === 0) throw await this.#missing(sessionId);
      yield await this.#derive(fold.state);
    }
  }

  list(query: ListQuery): AsyncIterable<ListRow> {
    return listSessions(this.#source, query);
  }

  async *events(sessionId: string, query: EventsQuery): AsyncGenerator<EventRow> {
    const { RowMaker } = await import("./event-rows.ts");
    const rows = new RowMaker(sessionId as SessionId, this.#source.ids);
    const wanted = (row: EventRow): boolean => (row.kind === "accepted" ? row.seq > query.after : query.refused && row.after >= query.after);
    const batches = query.follow ? followSession(this.#source.ledger, sessionId as SessionId, query) : [await this.#entries(sessionId)];
    for await (const entries of batches) {
      if (entries.length === 0) throw await this.#missing(sessionId);
      for (const entry of entries) {
        const row = rows.take(entry);
        if (wanted(row)) yield row;
      }
    }
  }

  async explain(sessionId: string, at: number | null): Promise<Explanation> {
    const entries = await this.#entries(sessionId);
    const [{ foldEntryOf }, { explain }, { createSystemHost }] = await Promise.all([
      import("./folding.ts"), import("@loopledger/shared/core/session/explain"), import("@loopledger/shared/system"),
    ]);
    const words = { alive: "live", dead: "gone", elsewhere: "unknown" } as const;
    const explanation = explain(entries.map(foldEntryOf), {
      sessionId: sessionId as SessionId, sha256: (text) => this.#source.ids.sha256(text),
      ...(at === null ? { look: (owner) => words[createSystemHost().look(owner.host)] } : { at: at as Seq }),
    });
    if (explanation.asOf === 0) throw await this.#missing(sessionId);
    if (at !== null && explanation.asOf < at) throw seqAhead(sessionId, { asked: at, is: explanation.asOf });
    return explanation;
  }

  async pending(): Promise<readonly CheckpointView[]> {
    const { checkpointViews } = await import("@loopledger/shared/core/session/checkpoint-view");
    const found: CheckpointView[] = [];
    for await (const { view } of this.list({ disposition: "waiting", limit: null })) {
      if (!view.waitingOn.some((one) => one.kind === "approval")) continue;
      const state = await this.#stateOf(view.sessionId);
      const views = checkpointViews(state, this.#looking(state));
      found.push(...views.filter((one) => one.standing === "pending"));
    }
    return found.sort((a, b) => a.since.localeCompare(b.since));
  }

  async checkpoint(sessionId: string, checkpoint: string): Promise<ShownCheckpoint> {
    const { checkpointView, checkpointViews, reviewRequest } = await import("@loopledger/shared/core/session/checkpoint-view");
    const state = await this.#stateOf(sessionId);
    const view = checkpointView(state, checkpoint, this.#looking(state));
    if (!view) throw noSuchCheckpoint(sessionId, checkpoint, checkpointViews(state, this.#looking(state)).map((one) => one.checkpoint));
    return { view, markdown: reviewRequest(state, view) };
  }

  async payload(sessionId: string, digest: string): Promise<Uint8Array | null> {
    return (await this.#source.blobs()).get(sessionId as SessionId, digest as never);
  }
  close(): Promise<void> {
    return this.#source.close();
  }

  /** The view's document, if nothing came to the session after it. */
  async #projected(sessionId: SessionId): Promise<StatusView | null> {
    const { views, ledger } = this.#source;
    const document = views && (await views.get(await views.active(), sessionId));
    if (!document) return null;
    const view = JSON.parse(document) as StatusView;
    const next = ((view.position?.offset ?? -1) + 1) as Offset;
    return (await ledger.readSession(sessionId, next)).length === 0 ? view : null;
  }

  async #entries(sessionId: string): Promise<readonly LogEntry[]> {
    const entries = await this.#source.ledger.readSession(sessionId as SessionId);
    if (entries.length === 0) throw await this.#missing(sessionId);
    return entries;
  }
  async #stateOf(sessionId: string): Promise<SessionState> {
    const [entries, { foldAll }] = await Promise.all([this.#entries(sessionId), import("./folding.ts")]);
    const state = foldAll(sessionId as SessionId, entries, this.#source.ids);
    if (state.seq === 0) throw await this.#missing(sessionId);
    return state;
  }
  async #derive(state: SessionState): Promise<StatusView> {
    return (await import("@loopledger/shared/core/session/status")).statusOf(state);
  }
  async #missing(sessionId: string): Promise<Error> {
    return nearestSession(unknownSession(sessionId, this.#where), sessionId, this.list({ limit: 1_000 }));
  }
  /** By the log's time, as far as who only reads can tell: not before the session's last record. */
  #looking({ at }: SessionState) {
    return { now: Math.max(this.#source.clock.now(), at ?? 0) as LogTime, sha256: (text: string) => this.#source.ids.sha256(text) };
  }
}
