/**
 * Where the first record of a key may lie in a partition, learned from what this process has read of it anyway.
 *
 * X1. Every record of a key lies at or behind what `from` tells: of a key that was not met it is the end of what was read without a gap.
 * X2. What is said of everything before an offset stays true for good, since the log only grows: it may be handed on to another process.
 * X3. Keys are told apart by a number made of them; two that share it share the earlier place, which costs reading and never a record.
 */

/** Beyond so many keys nothing new is taken in: what follows is read anew each time. */
const KEYS_MAX = 1 << 23;

interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A key's number, and the offset before which there is no record of it. */
export type Mark = readonly [mark: number, first: number];

class PartitionIndex {
  readonly #first = new Map<number, number>();
  /** Everything before this offset has been read. */
  #covered = 0;
  /** What was read behind a gap. */
  #ahead: Stretch | null = null;

  get covered(): number {
    return this.#covered;
  }
  /** What is known of everything before an offset that is covered. */
  before(offset: number): Mark[] {
    return [...this.#first].filter(([, first]) => first < offset);
  }
  take(to: number, marks: readonly Mark[]): void {
    if (this.#first.size + marks.length >= KEYS_MAX) return;
    for (const [mark, first] of marks) this.#first.set(mark, Math.min(first, this.#first.get(mark) ?? first));
    this.cover(0, to);
  }

  from(key: string): number {
    return Math.min(this.#first.get(markOf(key)) ?? this.#covered, this.#covered);
  }

  note(key: string, offset: number): void {
    const mark = markOf(key);
    const known = this.#first.get(mark);
    if (known === undefined ? this.#first.size < KEYS_MAX : offset < known) this.#first.set(mark, offset);
  }

  cover(from: number, to: number): void {
    if (this.#first.size >= KEYS_MAX) return;
    const ahead = this.#ahead;
    if (from <= this.#covered) this.#covered = Math.max(this.#covered, to);
    else if (ahead !== null && from <= ahead.to && to >= ahead.from) this.#ahead = { from: Math.min(from, ahead.from), to: Math.max(to, ahead.to) };
    else this.#ahead = { from, to };
    if (this.#ahead !== null && this.#ahead.from <= this.#covered) {
      this.#covered = Math.max(this.#covered, this.#ahead.to);
      this.#ahead = null;
    }
  }
}

export class KeyIndex {
  readonly #partitions = new Map<number, PartitionIndex>();

  /** Where a reading of the key's whole history has to begin. */
  from(partition: number, key: string): number {
    return this.#of(partition).from(key);
  }

  /** A record of the key was read. Called before `cover` of the stretch that it lies in. */
  note(partition: number, key: string, offset: number): void {
    this.#of(partition).note(key, offset);
  }

  /** All records from one offset to before another were read and noted. */
  cover(partition: number, { from, to }: Stretch): void {
    this.#of(partition).cover(from, to);
  }

  /** Everything of the partition before this offset was read. */
  covered(partition: number): number {
    return this.#of(partition).covered;
  }
  /** What is known of everything before `offset`, which must be covered. */
  before(partition: number, offset: number): readonly Mark[] {
    return this.#of(partition).before(offset);
  }
  /** Takes over what another process knew of everything before `offset`. */
  take(partition: number, offset: number, marks: readonly Mark[]): void {
    this.#of(partition).take(offset, marks);
  }

  #of(partition: number): PartitionIndex {
    let index = this.#partitions.get(partition);
    if (index === undefined) {
      index = new PartitionIndex();
      this.#partitions.set(partition, index);
    }
    return index;
  }
}

/** A number of 30 bits, which a map holds without boxing it. */
function markOf(key: string): number {
  let mark = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) mark = Math.imul(mark ^ key.charCodeAt(at), 0x01000193);
  return (mark ^ (mark >>> 15)) & 0x3fffffff;
}
