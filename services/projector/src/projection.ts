/**
 * One life of a projector: from the cursors that the views have, on and on, until something goes wrong or it is closed.
 *
 * V1. Views and their partition's cursor change together, in one compare-and-set, or not at all. Whoever finds the cursor
 *     moved takes the store's and goes on from there; nothing is written twice and nothing is left out.
 * V2. A life acts on nothing: it reads the ledger and writes views.
 * V3. What the engine's folds pass on is used where it is known to be complete; what lies before is folded here.
 */
import type { Offset } from "@loopledger/shared/core/brand";
import { LoopledgerError } from "@loopledger/shared/core/errors";
import { makeEvolve } from "@loopledger/shared/core/session/evolve";
import { readSnapshot } from "@loopledger/shared/core/session/snapshot";
import type { ReadModel, ViewWrite } from "@loopledger/shared/ports";
import { type Engine, Folds, fromEach, refuseViewsAhead } from "@loopledger/shared/runtime";
import { type Batch, Changed } from "./changed.ts";
import { Feeding } from "./feeding.ts";
import { viewOf } from "./view.ts";

export interface ProjectionSettings {
  readonly projection: string;
  /** Whether what the engine's own folds pass on may be used. */
  readonly shares: boolean;
  /** How often the feed is looked through, and how long a step waits for it, in ms. */
  readonly lookMs: number;
  readonly feedPatienceMs: number;
  /** Called after entries have been folded. */
  readonly onFolded: (projection: Projection) => void;
}

export class Projection {
  readonly #engine: Engine;
  readonly #views: ReadModel;
  readonly #settings: ProjectionSettings;
  readonly #cursors: Map<number, Offset>;
  readonly #feeding: Feeding | null;
  readonly #shared: Changed | null;
  /** Where the engine's folds were when this began to listen to them. */
  readonly #sharedFrom: ReadonlyMap<number, Offset>;
  #own: { readonly folds: Folds; readonly changed: Changed } | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(engine: Engine, views: ReadModel, start: { settings: ProjectionSettings; cursors: Map<number, Offset> }) {
    this.#engine = engine;
    this.#views = views;
    this.#settings = start.settings;
    this.#cursors = start.cursors;
    const { projection, lookMs, feedPatienceMs: patienceMs } = start.settings;
    this.#feeding = engine.feed ? new Feeding(engine, { views, feed: engine.feed, projection, lookMs, patienceMs }) : null;
    const shares = start.settings.shares && engine.folds.following && engine.folds.complete;
    this.#sharedFrom = shares ? engine.folds.handed() : new Map();
    const from = new Map([...this.#sharedFrom].map(([partition, offset]) => [partition, Math.max(offset, this.cursor(partition)) as Offset] as const));
    this.#shared = shares ? new Changed(engine.folds, { from, onFolded: () => start.settings.onFolded(this) }) : null;
  }

  /** Takes the store's cursors and listens. Throws `ledger_lost` where they are ahead of the ledger, and whatever the ports throw. */
  static async begin(engine: Engine, settings: ProjectionSettings): Promise<Projection> {
    const { views } = engine;
    if (!views) throw new TypeError("A projector needs a store of views.");
    const stored = await views.cursors(settings.projection);
    await refuseViewsAhead(engine.ledger, stored);
    return new Projection(engine, views, { settings, cursors: fromEach(engine.ledger, stored) });
  }

  get name(): string {
    return this.#settings.projection;
  }
  /** Next offset of the partition that is not in the views. */
  cursor(partition: number): Offset {
    return this.#cursors.get(partition) ?? (0 as Offset);
  }
  covers(positions: ReadonlyMap<number, Offset>): boolean {
    return [...positions].every(([partition, offset]) => this.cursor(partition) >= offset);
  }
  /** How many sessions wait to be written. */
  get waiting(): number {
    return (this.#shared?.size ?? 0) + (this.#own?.changed.size ?? 0);
  }
  /** Resolves when everything in the ledger now has been folded. */
  async folded(): Promise<void> {
    await this.#own?.folds.caughtUp();
    if (this.#shared) await this.#engine.folds.caughtUp();
  }

  /** Writes what has changed; `whole` moves the cursors too where no session did. */
  write(options: { readonly whole: boolean }): Promise<void> {
    const next = this.#turn.then(() => this.#writeAll(options.whole));
    this.#turn = next.catch(() => undefined);
    return next;
  }
  /** Throws where the store has less than was written to it: it was emptied, and is filled again from its beginning. */
  look(): Promise<void> {
    const next = this.#turn.then(async () => {
      const stored = await this.#views.cursors(this.#settings.projection);
      for (const [partition, cursor] of this.#cursors) this.#refuseOlder(partition, { cursor, stored: stored.get(partition) ?? (0 as Offset) });
    });
    this.#turn = next.catch(() => undefined);
    return next;
  }
  /** From now on the feed is looked through beside the steps. */
  watchFeed(): void {
    this.#feeding?.start();
  }
  async close(): Promise<void> {
    this.#shared?.close();
    await this.#turn;
    await this.#feeding?.close();
    await this.#closeOwn();
  }

  /** Brings the views to where the ledger was at the call. */
  async catchUp(): Promise<void> {
    const behind = new Map([...this.#cursors].filter(([partition, cursor]) => cursor < (this.#sharedFrom.get(partition) ?? Number.POSITIVE_INFINITY)));
    if (behind.size > 0) await this.#foldFrom(behind);
    await this.write({ whole: true });
  }

  /** Folds of its own for the partitions that the engine's do not cover yet, on top of the snapshots. */
  async #foldFrom(behind: ReadonlyMap<number, Offset>): Promise<void> {
    const { ledger, ids, log, guards, supervision } = this.#engine;
    const folds = new Folds({
      ledger, ids, evolve: makeEvolve(guards), supervision,
      report: (error, what) => log.error({ err: error }, `projector: ${what}`),
    });
    this.#own = { folds, changed: new Changed(folds, { from: behind, onFolded: () => this.#settings.onFolded(this) }) };
    if ([...behind.values()].some((cursor) => cursor > 0)) await this.#seed(folds, behind);
    await folds.start(behind);
    await folds.caughtUp();
  }
  async #seed(folds: Folds, behind: ReadonlyMap<number, Offset>): Promise<void> {
    for await (const { sessionId, snapshot } of this.#views.alive(this.#settings.projection)) {
      const read = behind.has(this.#engine.ledger.partitionOf(sessionId)) ? readSnapshot(snapshot) : null;
      if (read) folds.seed(read.state, read.next);
    }
  }

  async #writeAll(whole: boolean): Promise<void> {
    for (const partition of this.#cursors.keys()) {
      const source = this.#source(partition);
      const batch = source?.batch(partition, this.cursor(partition)) ?? null;
      if (batch && (whole || batch.sessions.length > 0)) await this.#writeBatch(partition, batch);
      await this.#change(partition);
    }
  }
  #source(partition: number): Changed | null {
    return this.#isOwn(partition) ? (this.#own?.changed ?? null) : this.#shared;
  }
  #isOwn(partition: number): boolean {
    return this.#own?.changed.collects(partition) ?? false;
  }

  async #writeBatch(partition: number, { to, sessions }: Batch): Promise<void> {
    const views = sessions.flatMap((one) => viewOf(one) ?? []);
    const from = this.cursor(partition);
    await this.#feeding?.step(partition, { from, to, views });
    await this.#engine.failpoints.pass("projector.before_write");
    const applied = await this.#compareAndSet(partition, { from, to, views });
    await this.#engine.failpoints.pass("projector.after_write");
    if (!applied) return this.#takeStored(partition, from);
    this.#moveTo(partition, to);
  }
  async #compareAndSet(partition: number, step: { from: Offset; to: Offset; views: readonly ViewWrite[] }): Promise<boolean> {
    const { projection } = this.#settings;
    if (await this.#views.write(projection, { partition, ...step })) return true;
    if (this.#engine.guards.cursorCompare) return false;
    const stored = await this.#views.cursors(projection);
    return this.#views.write(projection, { partition, ...step, from: stored.get(partition) ?? (0 as Offset) });
  }
  #moveTo(partition: number, to: Offset): void {
    this.#cursors.set(partition, to);
    this.#own?.changed.written(partition, to);
    this.#shared?.written(partition, to);
  }

  /** Somebody else has written: their cursor is the one that counts. */
  async #takeStored(partition: number, from: Offset): Promise<void> {
    const stored = await this.#views.cursors(this.#settings.projection);
    await refuseViewsAhead(this.#engine.ledger, stored);
    const cursor = stored.get(partition) ?? (0 as Offset);
    this.#refuseOlder(partition, { cursor: from, stored: cursor });
    this.#moveTo(partition, cursor);
  }
  #refuseOlder(partition: number, { cursor, stored }: { readonly cursor: Offset; readonly stored: Offset }): void {
    if (stored >= cursor) return;
    throw new LoopledgerError("views_unreachable", `The views of partition ${partition} went back from ${cursor} to ${stored}; they are folded again from there.`);
  }

  /** From where the engine's folds were heard on, they are enough. */
  async #change(partition: number): Promise<void> {
    const sharedFrom = this.#sharedFrom.get(partition);
    if (!this.#own || sharedFrom === undefined || !this.#isOwn(partition) || this.cursor(partition) < sharedFrom) return;
    this.#own.changed.leave(partition);
    if (this.#own.changed.isOver) await this.#closeOwn();
  }
  async #closeOwn(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    own?.changed.close();
    await own?.folds.close();
  }
}
