/**
 * Supervision: every reactor, timer and stream of a process under its name.
 *
 * S1. What one of them throws is reported with its name, makes the name faulty, and goes no further: it ends no process.
 * S2. It is begun again after a pause that doubles up to five seconds, as often as it takes.
 * S3. A name is faulty until everything that failed under it has worked again, or is wanted no more. Readiness lists the faulty names.
 */
import type { Clock } from "../ports/index.ts";

const pauseMs = 100;
const pauseMsMax = 5_000;

export interface SupervisionOptions {
  readonly clock: Pick<Clock, "after">;
  /** Told of everything that was thrown. */
  readonly report: (error: unknown, what: string) => void;
}

export class Supervision {
  readonly #options: SupervisionOptions;
  readonly #parts = new Map<string, Part>();

  constructor(options: SupervisionOptions) {
    this.#options = options;
  }

  /** The part of this name; known from the first time that it is asked for. */
  part(name: string): Part {
    const part = this.#parts.get(name) ?? new Part(name, this.#options);
    this.#parts.set(name, part);
    return part;
  }
  /** Every name that is known. */
  names(): string[] {
    return [...this.#parts.keys()].sort();
  }
  /** Names of what does not work now; empty = ready. */
  faulty(): string[] {
    return [...this.#parts.values()].filter((part) => part.isFaulty).map((part) => part.name).sort();
  }
}

/** For what runs apart from any engine. */
export function ownSupervision(report: SupervisionOptions["report"]): Supervision {
  const after = (delayMs: number, call: () => void): (() => void) => {
    const timer = setTimeout(call, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  };
  return new Supervision({ clock: { after }, report });
}

/** One kind of reactor. A `key` tells several of the kind apart, sessions say. */
export class Part {
  readonly name: string;
  readonly #options: SupervisionOptions;
  /** How often in a row each of them has failed. */
  readonly #faults = new Map<string, number>();

  constructor(name: string, options: SupervisionOptions) {
    this.name = name;
    this.#options = options;
  }

  get isFaulty(): boolean {
    return this.#faults.size > 0;
  }
  /** Something was thrown; gives how long to pause before it is begun again, in ms. */
  failed(error: unknown, key = ""): number {
    const times = (this.#faults.get(key) ?? 0) + 1;
    this.#faults.set(key, times);
    const againMs = Math.min(pauseMsMax, pauseMs * 2 ** (times - 1));
    // The first time, and then ever more rarely: it may last for hours.
    if (!Number.isInteger(Math.log2(times))) return againMs;
    try {
      this.#options.report(error, `${this.name}${key === "" ? "" : ` (${key})`} failed, ${times} in a row; it is begun again in ${againMs} ms`);
    } catch {
      // A log on a full disk must not take down what it tells of.
    }
    return againMs;
  }
  /** It works, or nobody wants it any more. */
  works(key = ""): void {
    if (this.#faults.size > 0) this.#faults.delete(key);
  }

  /** A timer: calls once after `delayMs`, and where that throws or rejects again after a pause, until it has worked. Cancelled by what is returned. */
  after(delayMs: number, call: () => unknown, key = ""): () => void {
    const attempt = new Attempt(this, this.#options.clock, { call, key });
    attempt.arm(delayMs);
    return () => attempt.cancel();
  }
  /** Something was thrown: calls after the pause, until it has worked. */
  again(error: unknown, call: () => unknown, key = ""): () => void {
    const attempt = new Attempt(this, this.#options.clock, { call, key });
    attempt.fail(error);
    return () => attempt.cancel();
  }
  /** Calls at once, and where that throws or rejects again after a pause, until it has worked. */
  now(call: () => unknown, key = ""): () => void {
    const attempt = new Attempt(this, this.#options.clock, { call, key });
    attempt.make();
    return () => attempt.cancel();
  }
}

class Attempt {
  readonly #part: Part;
  readonly #clock: Pick<Clock, "after">;
  readonly #call: () => unknown;
  readonly #key: string;
  #disarm: () => void = () => undefined;
  #isOver = false;
  #hasFailed = false;

  constructor(part: Part, clock: Pick<Clock, "after">, { call, key }: { readonly call: () => unknown; readonly key: string }) {
    this.#part = part;
    this.#clock = clock;
    this.#call = call;
    this.#key = key;
  }

  arm(delayMs: number): void {
    try {
      this.#disarm = this.#clock.after(delayMs, () => this.make());
    } catch (error) {
      // Without the clock there is still the runtime's own timer: what waits here must not be forgotten.
      const timer = setTimeout(() => this.make(), Math.max(delayMs, this.#failed(error)));
      timer.unref();
      this.#disarm = () => clearTimeout(timer);
    }
  }
  make(): void {
    if (this.#isOver) return;
    try {
      const made = this.#call();
      if (made instanceof Promise) made.then(() => this.#worked(), (error: unknown) => this.fail(error));
      else this.#worked();
    } catch (error) {
      this.fail(error);
    }
  }
  fail(error: unknown): void {
    if (!this.#isOver) this.arm(this.#failed(error));
  }
  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#disarm();
    if (this.#hasFailed) this.#part.works(this.#key);
  }

  #worked(): void {
    this.#isOver = true;
    this.#part.works(this.#key);
  }
  #failed(error: unknown): number {
    this.#hasFailed = true;
    return this.#part.failed(error, this.#key);
  }
}
