/**
 * Which batches of a piece belong to transactions of other producers that were taken back. Nothing here writes in transactions; others may.
 *
 * T1. The broker names the transactions that were taken back and touch the piece, in the order of their ends: it is theirs whoever began first.
 * T2. A producer's batches count as taken back from where the broker says that one of its transactions began to the marker that takes it back.
 */

/** A transaction that was taken back, as the answer to a fetch names it. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

/** Type of a marker: it takes back. The other one makes good. */
const takesBack = 0;
const typeAt = 2;

export class TakenBack {
  readonly #coming: AbortedTransaction[];
  readonly #open = new Set<number>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#coming = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset);
  }

  /** To be asked of every batch of a transaction in its turn, by its last offset, markers included. */
  has(producerId: number, lastOffset: number): boolean {
    for (let next = this.#coming[0]; next !== undefined && next.firstOffset <= lastOffset; next = this.#coming[0]) {
      this.#open.add(next.producerId);
      this.#coming.shift();
    }
    return this.#open.has(producerId);
  }

  /** A marker of a producer is behind us; its key says of which type it is. */
  mark(producerId: number, key: Buffer | null): void {
    if (key !== null && key.length >= typeAt + 2 && key.readInt16BE(typeAt) === takesBack) this.#open.delete(producerId);
  }
}

export const nothingTakenBack = new TakenBack([]);
