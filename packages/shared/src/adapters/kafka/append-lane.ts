/** What waits to be written to one partition, and what of it is under way. */
import type { WireRecord } from "./wire.ts";

/** Records that go in together or not at all, and who waits for that. */
export interface Parcel {
  readonly records: readonly WireRecord[];
  readonly bytes: number;
  /** Monotonic milliseconds. */
  readonly addedAt: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** Parcels that share a batch stay below this, which is below every broker's default; one alone may be larger. */
const BATCH_BYTES_MAX = 800_000;

export class AppendLane {
  readonly partition: number;
  #waiting: Parcel[] = [];
  /** Sent and not answered for; until it is, the very same records are sent again and nothing else. */
  #held: readonly Parcel[] = [];
  /** The batch as it is sent, made once. */
  #batch: readonly WireRecord[] = [];
  /** So many parcels have to go alone: together they were too large for the broker. */
  #alone = 0;
  tries = 0;
  /** In a request, or resting before the next try. */
  isBusy = false;

  constructor(partition: number) {
    this.partition = partition;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0 && this.#waiting.length === 0;
  }

  /** Of what is held, else of what waits. */
  get bytes(): number {
    return (this.#held.length > 0 ? this.#held : this.#waiting).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  add(parcel: Parcel): void {
    this.#waiting.push(parcel);
  }

  /** The batch to send now: what is held, else what waits. */
  take(): readonly WireRecord[] {
    if (this.#held.length === 0) {
      this.#held = this.#gather();
      this.#waiting = this.#waiting.slice(this.#held.length);
      this.#batch = this.#held.flatMap(({ records }) => records);
    }
    return this.#batch;
  }

  written(): void {
    const held = this.#release();
    for (const { done } of held) done();
  }

  refused(error: unknown): void {
    const held = this.#release();
    for (const { failed } of held) failed(error);
  }

  /** True where the parcels of a batch that was too large now go one by one; false where it was one alone. */
  divide(): boolean {
    if (this.#held.length < 2) return false;
    const held = this.#release();
    this.#alone = held.length;
    this.#waiting = [...held, ...this.#waiting];
    return true;
  }

  /** Gives up what was added before a moment; true where something was. */
  expire(before: number, error: unknown): boolean {
    const [first] = this.#held;
    if (first === undefined || first.addedAt >= before) return false;
    this.refused(error);
    const old = this.#waiting.filter(({ addedAt }) => addedAt < before);
    this.#waiting = this.#waiting.slice(old.length);
    for (const { failed } of old) failed(error);
    return true;
  }

  fail(error: unknown): void {
    const all = [...this.#release(), ...this.#waiting];
    this.#waiting = [];
    for (const { failed } of all) failed(error);
  }

  #release(): readonly Parcel[] {
    const held = this.#held;
    this.#held = [];
    this.#batch = [];
    this.tries = 0;
    return held;
  }

  #gather(): readonly Parcel[] {
    if (this.#alone > 0) {
      this.#alone -= 1;
      return this.#waiting.slice(0, 1);
    }
    let bytes = 0;
    let count = 0;
    for (const parcel of this.#waiting) {
      if (count > 0 && bytes + parcel.bytes > BATCH_BYTES_MAX) break;
      bytes += parcel.bytes;
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }
}
