/**
 * The feed beside the views of one life. A feed that cannot be reached holds no view up.
 *
 * N1. A step waits for the feed, but no longer than its patience. From then on the part `projector.feed` is faulty and views go on
 *     without the feed; its claims stay behind, so that what it missed is known (F4).
 * N2. It has recovered once a look has filled what it missed: until then nothing is sent ahead of a step. What was known of it is not
 *     believed any more, since it may have been made anew: its claims are read again.
 * N3. Looks hold no step up. One beside them is to a look what another projector's step is to it.
 * N4. What is sent later than it was waited for is an older status of a paused projector like any other (F2).
 */
import type { Offset } from "@loopledger/shared/core/brand";
import type { ReadModel, StatusFeed } from "@loopledger/shared/ports";
import type { Engine, Part } from "@loopledger/shared/runtime";
import { Publication, type Step } from "./publication.ts";

export interface FeedingOptions {
  readonly views: ReadModel;
  readonly feed: StatusFeed;
  readonly projection: string;
  /** How often the feed is looked through, in ms. */
  readonly lookMs: number;
  /** How long a step waits for the feed, in ms. */
  readonly patienceMs: number;
}

/** Pause before the next look where the views have not come to what was missed yet, and what a close waits for a look, in ms. */
const soonMs = 200;
const closeMs = 1_000;

export class Feeding {
  readonly #engine: Engine;
  #publication: Publication;
  readonly #part: Part;
  readonly #options: FeedingOptions;
  /** It could not be reached; with what the first step missed that did without it, where one did. */
  #away: { readonly missed: { readonly partition: number; readonly to: Offset } | null } | null = null;
  #looking: Promise<void> | null = null;
  #cancelLook: () => void = () => undefined;
  #isOver = false;

  constructor(engine: Engine, options: FeedingOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#publication = new Publication(engine, options);
    this.#part = engine.supervision.part("projector.feed");
  }

  /** Sends what is about to be written to the views, where the feed takes it in time. Throws nothing. */
  async step(partition: number, step: Step): Promise<void> {
    if (this.#away) return;
    const { patienceMs, projection } = this.#options;
    try {
      if (await this.#within(patienceMs, this.#publication.step(partition, step))) return;
      throw new Error(`The status feed has not taken a step of ${projection} within ${patienceMs} ms; the views go on without it.`);
    } catch (error) {
      this.#leave(error, { partition, to: step.to });
    }
  }

  /** From now on the feed is looked through; the first look is at once: what nobody has sent is sent then. */
  start(): void {
    if (!this.#away) this.#lookIn(0);
  }
  async close(): Promise<void> {
    this.#isOver = true;
    this.#cancelLook();
    this.#part.works(this.#options.projection);
    if (this.#looking !== null) await this.#within(closeMs, this.#looking);
  }

  #leave(error: unknown, missed: { readonly partition: number; readonly to: Offset } | null): void {
    if (this.#isOver) return;
    this.#away = { missed: this.#away?.missed ?? missed };
    this.#publication = new Publication(this.#engine, this.#options);
    this.#lookIn(this.#part.failed(error, this.#options.projection));
  }
  #lookIn(delayMs: number): void {
    this.#cancelLook();
    this.#cancelLook = this.#engine.supervision.part("projector.timers").after(delayMs, () => {
      // One that is under way arms the next one itself.
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
    }, `${this.#options.projection}, feed`);
  }
  async #look(): Promise<void> {
    try {
      await this.#publication.look();
    } catch (error) {
      return this.#leave(error, null);
    }
    if (this.#isOver) return;
    const missed = this.#away?.missed ?? null;
    if (missed && !this.#publication.has(missed)) return this.#lookIn(soonMs);
    this.#away = null;
    this.#part.works(this.#options.projection);
    this.#lookIn(this.#options.lookMs);
  }

  /** Whether it was fulfilled in time; what it rejects with later is nobody's concern. */
  async #within(ms: number, work: Promise<unknown>): Promise<boolean> {
    const late = Promise.withResolvers<boolean>();
    const cancel = this.#engine.clock.after(ms, () => late.resolve(false));
    try {
      return await Promise.race([work.then(() => true), late.promise]);
    } finally {
      cancel();
    }
  }
}
