/** A partition read through, piece by piece, so that no history has to fit into memory at once. */
import type { Offset } from "../core/brand.ts";
import type { Ledger, LogEntry } from "../ports/index.ts";

export interface Stretch {
  readonly partition: number;
  /** Inclusive. */
  readonly from: Offset;
  /** Exclusive; left out, as far as the partition goes when it is come to. */
  readonly to?: Offset;
}

/**
 * Entries in order, at most `piece` at a time, and never none. It goes on until the ledger has nothing more: a piece that is smaller
 * than what was asked for is no end (see `Ledger.read`). An offset within the stretch may have no entry.
 */
export async function* readStretch(ledger: Pick<Ledger, "read">, { partition, from, to }: Stretch, piece = 1_000): AsyncGenerator<readonly LogEntry[]> {
  for (let next = from; to === undefined || next < to; ) {
    const entries = await ledger.read(partition, next, piece);
    const last = entries.at(-1);
    if (!last) return;
    const within = to === undefined || last.offset < to ? entries : entries.filter(({ offset }) => offset < to);
    if (within.length > 0) yield within;
    next = (last.offset + 1) as Offset;
  }
}
