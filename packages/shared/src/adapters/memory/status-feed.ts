/** The status feed in memory: every record that was written, in order, for all who hold a handle. */
import type { Offset, SessionId } from "../../core/brand.ts";
import { partitionOf } from "../../core/placement.ts";
import type { FeedRecord, StatusFeed } from "../../ports/index.ts";

export interface MemoryStatusFeedOptions {
  readonly partitions: number;
  /** Characters that a document may have. */
  readonly documentMax?: number;
}
type Position = NonNullable<FeedRecord["position"]>;
export interface MemoryFeedRecord extends Omit<FeedRecord, "claims"> {
  readonly ledgerId: string | null;
  /** null on a record that claims nothing. */
  readonly looked: number | null;
}
export interface MemoryStatusFeed {
  handle(ledgerId: string): StatusFeed;
  /** What anybody else writes. */
  put(record: { readonly sessionId: SessionId; readonly document: string; readonly ledgerId?: string; readonly position?: Position }): void;
  /** Every record in the order of writing. */
  records(): readonly MemoryFeedRecord[];
  /** The last record of each session: what compaction leaves. */
  latest(): ReadonlyMap<SessionId, string>;
}

export function createMemoryStatusFeed({ partitions, documentMax = Number.POSITIVE_INFINITY }: MemoryStatusFeedOptions): MemoryStatusFeed {
  const all: MemoryFeedRecord[] = [];
  const ends = new Map<number, number>(Array.from({ length: partitions }, (_, partition) => [partition, 0]));
  const append = (record: Omit<MemoryFeedRecord, "partition" | "offset">): void => {
    const partition = partitionOf(record.sessionId, partitions);
    const offset = ends.get(partition) ?? 0;
    ends.set(partition, offset + 1);
    all.push({ ...record, partition, offset });
  };
  return {
    put: ({ ledgerId = null, position = null, ...fed }) => append({ ...fed, ledgerId, position, looked: null }),
    records: () => [...all],
    latest: () => new Map(all.map(({ sessionId, document }) => [sessionId, document])),
    handle: (ledgerId) => ({
      write: async ({ partition, position, statuses, claim }) => {
        const tooLarge: SessionId[] = [];
        for (const [index, { sessionId, document }] of statuses.entries()) {
          const looked = claim && index === statuses.length - 1 ? (claim.looked.get(partitionOf(sessionId, partitions)) ?? 0) : null;
          if (document.length > documentMax) tooLarge.push(sessionId);
          else append({ sessionId, document, ledgerId, position: { partition, offset: position }, looked });
        }
        return tooLarge;
      },
      claims: async () => claimsOf(all.filter((record) => record.ledgerId === ledgerId)),
      read: async (from, visit) => {
        const [until, records] = [new Map(ends), [...all]];
        for (const { looked, ledgerId: writer, position, ...record } of records) {
          const isOurs = writer === ledgerId;
          if (record.offset >= (from.get(record.partition) ?? Number.POSITIVE_INFINITY)) visit({ ...record, position: isOurs ? position : null, claims: isOurs && looked !== null });
        }
        return until;
      },
      close: async () => undefined,
    }),
  };
}

function claimsOf(records: readonly MemoryFeedRecord[]): { fed: Map<number, Offset>; looked: Map<number, number> } {
  const fed = new Map<number, Offset>();
  const looked = new Map<number, number>();
  for (const { position, looked: claimed, partition } of records) {
    if (position === null || claimed === null) continue;
    fed.set(position.partition, Math.max(position.offset, fed.get(position.partition) ?? 0) as Offset);
    looked.set(partition, Math.max(claimed, looked.get(partition) ?? 0));
  }
  return { fed, looked };
}
