/**
 * The sessions that have changed since a partition was last written, with their latest state, as one fold tells them.
 *
 * C1. A batch is given out only when every state in it is exactly the one at the batch's end: nothing in it lies ahead,
 *     and nothing that belongs into it is still being read.
 * C2. What the fold knew ahead of the log's delivery when this began is collected too: its entries are not told again.
 */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import type { Snapshot } from "@loopledger/shared/core/session/snapshot";
import type { Change, Folds } from "@loopledger/shared/runtime";

export interface Batch {
  /** Next offset after it. */
  readonly to: Offset;
  readonly sessions: readonly Snapshot[];
}
interface Partition {
  /** Everything before it is written. */
  from: Offset;
  readonly sessions: Map<SessionId, Snapshot>;
}

export class Changed {
  readonly #folds: Folds;
  readonly #partitions = new Map<number, Partition>();
  readonly #stops: readonly (() => void)[];

  /** Collects from now on, for the partitions that have a position in `from`. */
  constructor(folds: Folds, { from, onFolded }: { readonly from: ReadonlyMap<number, Offset>; readonly onFolded: () => void }) {
    this.#folds = folds;
    for (const [partition, offset] of from) this.#partitions.set(partition, { from: offset, sessions: new Map() });
    for (const { partition, state, next } of folds.ahead()) this.#collect(partition, { state, next });
    this.#stops = [folds.listen((change) => this.#take(change), "projector.changes"), folds.onFolded(onFolded, "projector.positions")];
  }
  close(): void {
    for (const stop of this.#stops) stop();
    this.#partitions.clear();
  }

  /** How many sessions wait to be written. */
  get size(): number {
    let size = 0;
    for (const { sessions } of this.#partitions.values()) size += sessions.size;
    return size;
  }

  #take({ state, entry }: Change): void {
    this.#collect(entry.partition, { state, next: (entry.offset + 1) as Offset });
  }
  #collect(partition: number, snapshot: Snapshot): void {
    const found = this.#partitions.get(partition);
    if (found && snapshot.next > found.from) found.sessions.set(snapshot.state.sessionId, snapshot);
  }

  /** What has changed since `from`; null where there is nothing yet that could be written exactly. */
  batch(partition: number, from: Offset): Batch | null {
    const sessions = [...(this.#partitions.get(partition)?.sessions.values() ?? [])];
    const to = this.#folds.folded().get(partition);
    if (to === undefined || to <= from || sessions.some((one) => one.next > to)) return null;
    return { to, sessions: sessions.filter((one) => one.next > from) };
  }

  /** Everything of the partition before `to` is in the views. */
  written(partition: number, to: Offset): void {
    const found = this.#partitions.get(partition);
    if (!found) return;
    found.from = Math.max(found.from, to) as Offset;
    for (const [sessionId, one] of found.sessions) if (one.next <= to) found.sessions.delete(sessionId);
  }
  collects(partition: number): boolean {
    return this.#partitions.has(partition);
  }
  /** Nothing more is collected of this partition. */
  leave(partition: number): void {
    this.#partitions.delete(partition);
  }
  get isOver(): boolean {
    return this.#partitions.size === 0;
  }
}
