/** What of a range of the ledger nobody has sent yet: each session that has a record in it, with the status that the views hold. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { isLedgerKey } from "@loopledger/shared/core/placement";
import type { FedStatus, Ledger } from "@loopledger/shared/ports";
import { readStretch, type Stretch } from "@loopledger/shared/runtime";

interface Filling {
  readonly ledger: Ledger;
  readonly get: (sessionId: SessionId) => Promise<string | null>;
  /** In order; the last piece is told. */
  readonly send: (statuses: readonly FedStatus[], isLast: boolean) => Promise<void>;
}

/** Sessions that are read and sent at once. */
const pieceMax = 200;

export async function fill({ ledger, get, send }: Filling, range: Required<Stretch>): Promise<void> {
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

async function sessionsIn(ledger: Ledger, range: Required<Stretch>): Promise<Set<SessionId>> {
  const found = new Set<SessionId>();
  for await (const entries of readStretch(ledger, range)) {
    for (const { key } of entries) if (!isLedgerKey(key)) found.add(key as SessionId);
  }
  return found;
}

function piecesOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / pieceMax) }, (_, index) => items.slice(index * pieceMax, (index + 1) * pieceMax));
}
