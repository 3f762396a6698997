/**
 * The statuses of one projection on the feed that other systems read, for as long as it is the projection in use.
 *
 * F1. A status is on the feed before the views and their cursor move past it, for as long as the feed can be written: what is before
 *     a cursor needs no second sending, and after a crash in between it is folded and sent again.
 * F2. Nobody keeps a writer that was paused from putting an older status behind a newer one. So every projector reads the feed
 *     again: what stands last of a session and is not what the views hold, also when the feed is read once more, is written anew.
 * F3. A record that is ahead of the views is judged when they have come as far, and not before.
 * F4. How far F1 and F2 hold stands on the feed itself, in its claims: whoever begins or looks goes on from there, and fills what
 *     nobody has sent, so that neither a projection that is taken into use, nor a release that knew no feed, nor a time in which the
 *     feed could not be written leaves anything out.
 * F5. Steps and looks may run at once, here as in two processes.
 */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { FeedRecord, FedStatus, Positions, ReadModel, StatusFeed, ViewWrite } from "@loopledger/shared/ports";
import type { Engine } from "@loopledger/shared/runtime";
import { fill, inPieces } from "./filling.ts";

/** What stands last of a session on the feed, and was not found to be what the views hold. */
interface Unsettled extends FeedRecord {
  /** What the views held before the feed was read to its end once more. */
  readonly differed: boolean;
}
export interface Step { readonly from: Offset; readonly to: Offset; readonly views: readonly ViewWrite[] }
interface Claims { readonly fed: Map<number, Offset>; readonly next: Map<number, number> }

export class Publication {
  readonly #engine: Engine;
  readonly #views: ReadModel;
  readonly #feed: StatusFeed;
  readonly #projection: string;
  readonly #unsettled = new Map<SessionId, Unsettled>();
  /** Before which offset of the ledger everything is on the feed, and from where on the feed is read next; null while another projection is in use. */
  #claims: Claims | null = null;
  #beginning: Promise<Claims> | null = null;

  constructor(engine: Engine, { views, feed, projection }: { readonly views: ReadModel; readonly feed: StatusFeed; readonly projection: string }) {
    this.#engine = engine;
    this.#views = views;
    this.#feed = feed;
    this.#projection = projection;
  }

  /** Sends what is about to be written to the views. */
  async step(partition: number, { from, to, views }: Step): Promise<void> {
    const claims = await this.#begin();
    const fed = claims?.fed.get(partition) ?? (0 as Offset);
    if (claims === null || to <= fed) return;
    const isWhole = fed >= from;
    if (views.length > 0) await this.#write(partition, { position: to, statuses: views, looked: isWhole ? this.#looked(claims) : null });
    if (isWhole) advance(claims, partition, to);
  }
  /** Everything of the partition before that offset is on the feed, or this is not the projection in use. */
  has({ partition, to }: { readonly partition: number; readonly to: Offset }): boolean {
    return this.#claims === null || (this.#claims.fed.get(partition) ?? 0) >= to;
  }

  /** Reads what was written to the feed since the last look, and mends and fills it. */
  async look(): Promise<void> {
    const claims = await this.#begin();
    if (claims === null) return;
    const cursors = await this.#views.cursors(this.#projection);
    const ends = await this.#feed.read(claims.next, (record) => this.#take(claims, record));
    for (const [partition, end] of ends) claims.next.set(partition, end);
    await this.#judge(cursors);
    await this.#fill(claims, cursors);
  }

  /** What the feed claims, once this is the projection in use; null while it is not. */
  async #begin(): Promise<Claims | null> {
    if ((await this.#views.active()) !== this.#projection) {
      this.#claims = null;
      this.#unsettled.clear();
    } else if (this.#claims === null) {
      this.#beginning ??= this.#readClaims().finally(() => {
        this.#beginning = null;
      });
      const read = await this.#beginning;
      this.#claims ??= read;
    }
    return this.#claims;
  }
  async #readClaims(): Promise<Claims> {
    const { fed, looked } = await this.#feed.claims();
    // Where nothing was ever looked through, nobody of us has written what is there.
    const ends = await this.#feed.read(new Map(), () => undefined);
    return { fed: new Map(fed), next: new Map([...ends].map(([partition, end]) => [partition, Math.min(looked.get(partition) ?? end, end)])) };
  }

  #take({ fed }: Claims, record: FeedRecord): void {
    const { position, claims, sessionId } = record;
    if (claims && position !== null && position.offset > (fed.get(position.partition) ?? 0)) fed.set(position.partition, position.offset);
    const before = this.#unsettled.get(sessionId);
    // A record that goes back behind an unsettled one is judged when the views are where that one is.
    const furthest = (before?.position?.offset ?? 0) > (position?.offset ?? 0) ? (before?.position ?? null) : position;
    this.#unsettled.set(sessionId, { ...record, position: furthest, differed: false });
  }

  async #judge(cursors: Positions): Promise<void> {
    const ahead = [...this.#unsettled.values()].some(({ position }) => isAhead(position, cursors));
    const end: Positions = ahead ? await this.#engine.ledger.end() : cursors;
    const wrong = new Map<number, FedStatus[]>();
    // What claims to be ahead of the ledger itself was written by nobody who folds it.
    const due = [...this.#unsettled.values()].filter(({ position }) => !isAhead(position, cursors) || isAhead(position, end));
    await inPieces(due, async (record) => {
      const document = await this.#views.get(this.#projection, record.sessionId);
      const partition = this.#engine.ledger.partitionOf(record.sessionId);
      if (document === null || document === record.document) this.#unsettled.delete(record.sessionId);
      else if (record.differed) wrong.set(partition, [...(wrong.get(partition) ?? []), { sessionId: record.sessionId, document }]);
      else this.#unsettled.set(record.sessionId, { ...record, differed: true });
    });
    for (const [partition, statuses] of wrong) {
      await this.#write(partition, { position: cursors.get(partition) ?? (0 as Offset), statuses, looked: null });
      for (const { sessionId } of statuses) this.#unsettled.delete(sessionId);
    }
  }

  async #fill(claims: Claims, cursors: Positions): Promise<void> {
    for (const [partition, to] of cursors) {
      const from = claims.fed.get(partition) ?? (0 as Offset);
      if (from >= to) continue;
      const send = (statuses: readonly FedStatus[], isLast: boolean): Promise<void> =>
        this.#write(partition, { position: to, statuses, looked: isLast ? this.#looked(claims) : null });
      await fill({ ledger: this.#engine.ledger, get: (sessionId) => this.#views.get(this.#projection, sessionId), send }, { partition, from, to });
      advance(claims, partition, to);
    }
  }

  /** Up to where each partition of the feed is settled. */
  #looked({ next }: Claims): ReadonlyMap<number, number> {
    const looked = new Map(next);
    for (const { partition, offset } of this.#unsettled.values()) looked.set(partition, Math.min(offset, looked.get(partition) ?? offset));
    return looked;
  }

  async #write(partition: number, { position, statuses, looked }: { readonly position: Offset; readonly statuses: readonly FedStatus[]; readonly looked: ReadonlyMap<number, number> | null }): Promise<void> {
    const fed = statuses.map(({ sessionId, document }) => ({ sessionId, document }));
    const tooLarge = await this.#feed.write({ partition, position, statuses: fed, ...(looked && { claim: { looked } }) });
    for (const sessionId of tooLarge) this.#engine.log.warn({ sessionId }, "projector: the status is larger than its topic takes, and is left out there; the views have it");
  }
}

function advance({ fed }: Claims, partition: number, to: Offset): void {
  if (to > (fed.get(partition) ?? 0)) fed.set(partition, to);
}
function isAhead(position: FeedRecord["position"], of: Positions): boolean {
  return position !== null && position.offset > (of.get(position.partition) ?? 0);
}
