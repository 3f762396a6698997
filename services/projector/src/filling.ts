/** What of a range of the ledger nobody has sent yet: each session that has a record in it, with the status that the views hold. */
import type { Offset, SessionId } from "@loopledger/shared/core/brand";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import type { FedStatus, Ledger } from "@loopledger/shared/ports";

interface Filling {
  readonly ledger: Ledger;
  readonly get: (sessionId: SessionId) => Promise<string | null>;
  /** In order; the last piece is told. */
  readonly send: (statuses: readonly FedStatus[], isLast: boolean) => Promise<void>;
}
interface Range { readonly partition: number; readonly from: Offset; readonly to: Offset }

const chunk = 1_000;
/** Sessions that are read and sent at once. */
const pieceMax = 200;

export async function fill({ ledger, get, send }: Filling, range: Range): Promise<void> {
  let piece: FedStatus[] = [];
  for (const sessionIds of piecesOf([...(await sessionsIn(ledger, range))])) {
    const documents = await Promise.all(sessionIds.map(get));
    const found = sessionIds.flatMap((sessionId, index) => {
      const document = documents[index] ?? null;
      return document === null ? [] : [{ sessionId, document }];
    });
    if (found.length > 0 && piece.length > 0) await send(piece, false);
    if (found.length > 0) piece = found;
  }
  if (piece.length > 0) await send(piece, true);
}

/** Runs something for each, some at once. */
export async function inPieces<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const piece of piecesOf(items)) await Promise.all(piece.map(work));
}

async function sessionsIn(ledger: Ledger, { partition, from, to }: Range): Promise<Set<SessionId>> {
  const found = new Set<SessionId>();
  for (let next = from; next < to; ) {
    const entries = await ledger.read(partition, next, chunk);
    for (const { key, offset } of entries) if (offset < to && !isLedgerKey(key)) found.add(key as SessionId);
    if (entries.length === 0) break;
    next = ((entries.at(-1)?.offset ?? next) + 1) as Offset;
  }
  return found;
}

function piecesOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / pieceMax) }, (_, index) => items.slice(index * pieceMax, (index + 1) * pieceMax));
}
