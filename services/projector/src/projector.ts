/**
 * The projector: follows the ledger, folds, and writes each changed session's view with the partition's cursor.
 *
 * W1. It never sits on the path of a session: only the latest state counts, a batch at a time, and it takes a tenth of the
 *     process's time at most, a fortieth where half a second's pause is enough for that.
 * W2. An error makes the part "projector" faulty and starts a new life after a pause that doubles up to 5 s; nothing of the old one is kept.
 * W3. Where no projection is named it writes the one in use, and goes over to another one soon after that was taken into use.
 * W4. A feed that cannot be reached makes the part "projector.feed" faulty, and views go on.
 * W5. Views ahead of the ledger mean that records are gone: it halts with the reason and does not go on.
 */
import type { Offset } from "@loopledger/shared/core/brand";
import { type LoopledgerError, isLoopledgerError } from "@loopledger/shared/core/errors";
import type { ReadModel } from "@loopledger/shared/ports";
import type { Engine, Part } from "@loopledger/shared/runtime";
import { Projection } from "./projection.ts";

export interface ProjectorOptions {
  /** Name of the read model (default: the one in use, also when that changes). */
  readonly projection?: string;
  /** Pause between two batches, in ms (default 50). */
  readonly batchMs?: number;
  /** Changed sessions at which a batch is written without a pause (default 500). */
  readonly batchMax?: number;
  /** How often store and feed are looked at, whether anything is written or not, in ms (default 5000). */
  readonly lookMs?: number;
  /** How long a step waits for the feed before the views go on without it, in ms (default 5000). */
  readonly feedPatienceMs?: number;
  /** Folds by itself, even where the engine's folds could be shared. */
  readonly apart?: boolean;
  /** Ends at the first error instead of starting anew. */
  readonly once?: boolean;
}
export interface Projector {
  /** Writes what is left and ends. */
  stop(): Promise<void>;
  /** Resolves when everything in the ledger at the call is in the views. Rejects where the projector has halted or was stopped. */
  caughtUp(): Promise<void>;
  ready(): boolean;
  /** Why it does not go on; null while it does. */
  readonly halted: Error | null;
  /** Resolves when it has ended: with the reason where it has halted, with null where it was stopped. */
  readonly over: Promise<Error | null>;
}

/** Views that were lost, and a feed that somebody else has written to, are as they must be soon after. */
const lookMs = 5_000;
const feedPatienceMs = 5_000;
const batchPauseMaxMs = 2_000;
/** A longer pause costs less and shows a list of a busy process a little later: up to here it may. */
const thriftyPauseMaxMs = 500;

/** How long to pause after a batch that took so long, in ms. */
function pauseAfter(tookMs: number, batchMs: number): number {
  return Math.min(batchPauseMaxMs, Math.max(batchMs, 9 * tookMs, Math.min(thriftyPauseMaxMs, 39 * tookMs)));
}

/** Resolves when the first attempt to begin is over, whether it is ready then or not. */
export async function startProjector(engine: Engine, options: ProjectorOptions = {}): Promise<Projector> {
  if (!engine.views) throw new TypeError("A projector needs a store of views.");
  const projection = options.projection ?? (await engine.views.active());
  const supervisor = new Supervisor(engine, { batchMs: 50, batchMax: 500, lookMs, feedPatienceMs, ...options, projection, views: engine.views, follows: options.projection === undefined });
  await supervisor.start();
  return supervisor;
}

type Settings = ProjectorOptions & { readonly projection: string; readonly batchMs: number; readonly batchMax: number; readonly lookMs: number; readonly feedPatienceMs: number; readonly views: ReadModel; readonly follows: boolean };
/** Ends a life because another projection is in use now. */
const anotherInUse = Symbol("another projection is in use");
interface Waiter { readonly target: ReadonlyMap<number, Offset>; readonly done: () => void; readonly failed: (error: Error) => void }

class Supervisor implements Projector {
  readonly #engine: Engine;
  readonly #settings: Settings;
  readonly #part: Part;
  readonly #waiters = new Set<Waiter>();
  #life: Projection | null = null;
  /** Ends the current life. */
  #end: (error: unknown) => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #stopPause: (() => void) | null = null;
  #cancelBatch: (() => void) | null = null;
  #cancelLook: (() => void) | null = null;
  #writing = false;
  #pauseMs: number;
  #ready = false;
  #stopped = false;
  halted: Error | null = null;

  constructor(engine: Engine, settings: Settings) {
    this.#engine = engine;
    this.#settings = settings;
    this.#part = engine.supervision.part("projector");
    this.#pauseMs = settings.batchMs;
  }

  ready(): boolean {
    return this.#ready;
  }
  get over(): Promise<Error | null> {
    return this.#running.then(() => this.halted);
  }
  start(): Promise<void> {
    return new Promise((begun) => {
      this.#running = this.#run(begun);
    });
  }
  async stop(): Promise<void> {
    if (this.#stopped) return this.#running;
    this.#stopped = true;
    this.#ready = false;
    this.#disarm();
    await this.#life?.write({ whole: true }).catch((error: unknown) => this.#engine.log.warn({ err: error }, "projector: the last batch was not written"));
    this.#stopPause?.();
    this.#end(null);
    await this.#running;
    this.#refuseWaiters(new Error("The projector was stopped."));
  }
  async caughtUp(): Promise<void> {
    if (this.halted) throw this.halted;
    if (this.#stopped) throw new Error("The projector was stopped.");
    const target = await this.#engine.ledger.end();
    await new Promise<void>((done, failed) => {
      this.#waiters.add({ target, done, failed });
      this.#press();
    });
  }

  async #run(begun: () => void): Promise<void> {
    const key = this.#settings.projection;
    while (!this.#stopped && !this.halted) {
      const error = await this.#live(() => {
        this.#part.works(key);
        begun();
      });
      this.#ready = false;
      if (this.#stopped) break;
      if (error === anotherInUse) continue;
      if (this.#settings.once || isLoopledgerError(error, "ledger_lost")) this.#halt(error);
      else {
        const pauseMs = this.#part.failed(error, key);
        begun();
        await this.#pause(pauseMs);
      }
    }
    if (this.#stopped) this.#part.works(key);
    begun();
  }

  /** One life from its beginning to its end; gives what ended it. */
  async #live(onReady: () => void): Promise<unknown> {
    const ended = Promise.withResolvers<unknown>();
    this.#end = ended.resolve;
    try {
      this.#life = await Projection.begin(this.#engine, {
        projection: this.#settings.follows ? await this.#settings.views.active() : this.#settings.projection, shares: !this.#settings.apart, lookMs: this.#settings.lookMs, feedPatienceMs: this.#settings.feedPatienceMs, onFolded: (life) => this.#arm(life),
      });
      const first = this.#life.catchUp().then(() => null, (error: unknown) => ({ error }));
      const failed = await Promise.race([first, ended.promise.then((error) => ({ error }))]);
      if (failed) return failed.error;
      this.#ready = !this.#stopped;
      onReady();
      this.#settle();
      this.#life.watchFeed();
      this.#lookSoon(this.#life, this.#settings.lookMs);
      return await ended.promise;
    } catch (error) {
      return error;
    } finally {
      this.#disarm();
      this.#cancelLook?.();
      const life = this.#life;
      this.#life = null;
      await life?.close().catch((error: unknown) => this.#engine.log.warn({ err: error }, "projector: a life was not closed in order"));
    }
  }
  #halt(error: unknown): void {
    this.halted = error instanceof Error ? error : new Error(String(error));
    const { code, next } = this.halted as Partial<LoopledgerError>;
    this.#engine.log.error({ err: error, projection: this.#life?.name ?? this.#settings.projection, code, next }, "projector: halted");
    this.#refuseWaiters(this.halted);
  }
  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timer(delayMs, resolve);
      this.#stopPause = () => {
        cancel();
        resolve();
      };
    });
  }

  #lookSoon(life: Projection, delayMs: number): void {
    this.#cancelLook = this.#timer(delayMs, () => {
      this.#look(life).then(() => {
        if (this.#life === life) this.#lookSoon(life, this.#settings.lookMs);
      }, (error: unknown) => {
        if (this.#life === life) this.#end(error);
      });
    });
  }

  async #look(life: Projection): Promise<void> {
    await life.look();
    if (this.#settings.follows && (await this.#settings.views.active()) !== life.name) throw anotherInUse;
  }

  /** A batch is written after a pause, at once where it is full. */
  #arm(life: Projection): void {
    if (life.waiting === 0 || this.#writing || this.#stopped) return;
    const full = life.waiting >= this.#settings.batchMax;
    if (this.#cancelBatch && !full) return;
    this.#disarm();
    this.#cancelBatch = this.#timer(full ? 0 : this.#pauseMs, () => this.#press());
  }
  #timer(delayMs: number, call: () => void): () => void {
    return this.#engine.supervision.part("projector.timers").after(delayMs, call, this.#settings.projection);
  }
  #disarm(): void {
    this.#cancelBatch?.();
    this.#cancelBatch = null;
  }

  /** Writes now. What goes wrong ends this life. */
  #press(): void {
    this.#disarm();
    const life = this.#life;
    if (!life || this.#writing || this.#stopped) return;
    this.#writing = true;
    void this.#write(life)
      .catch((error: unknown) => this.#end(error))
      .finally(() => {
        this.#writing = false;
        if (this.#life !== life) return;
        this.#settle();
        if (life.waiting > 0) this.#arm(life);
      })
      .catch((error: unknown) => this.#end(error));
  }
  async #write(life: Projection): Promise<void> {
    const awaited = this.#waiters.size > 0;
    if (awaited) await life.folded();
    const begunMs = this.#engine.clock.monotonic();
    await life.write({ whole: awaited });
    const tookMs = this.#engine.clock.monotonic() - begunMs;
    this.#pauseMs = pauseAfter(tookMs, this.#settings.batchMs);
  }

  #settle(): void {
    for (const waiter of this.#waiters) {
      if (!this.#life?.covers(waiter.target)) continue;
      this.#waiters.delete(waiter);
      waiter.done();
    }
    if (this.#waiters.size > 0 && !this.#cancelBatch) this.#cancelBatch = this.#timer(5, () => this.#press());
  }
  #refuseWaiters(error: Error): void {
    for (const waiter of this.#waiters) waiter.failed(error);
    this.#waiters.clear();
  }
}
