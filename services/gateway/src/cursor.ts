/**
 * The cursor of the stream of all sessions: which ledger, and the next offset of each of its partitions. Opaque to clients. Pure.
 *
 * U1. A cursor that is no cursor is `malformed`; one of another ledger is `gone`; nothing is ever read as "from now".
 */
import type { Offset } from "@loopledger/shared/core/brand";

export type Vector = ReadonlyMap<number, Offset>;
export type ReadCursor = { readonly kind: "cursor"; readonly positions: Vector } | { readonly kind: "malformed" } | { readonly kind: "gone" };

interface LedgerName { readonly ledgerId: string; readonly partitions: number }

export function formatCursor({ ledgerId, partitions }: LedgerName, positions: Vector): string {
  const offsets = Array.from({ length: partitions }, (_, partition) => (positions.get(partition) ?? 0).toString(36));
  return `v1~${ledgerId}~${offsets.join(".")}`;
}

export function parseCursor(ledger: LedgerName, text: string): ReadCursor {
  const parts = /^v1~([^~\s]{1,128})~([0-9a-z]{1,11}(?:\.[0-9a-z]{1,11})*)$/.exec(text);
  if (!parts) return { kind: "malformed" };
  const offsets = (parts[2] ?? "").split(".").map((digits) => Number.parseInt(digits, 36));
  if (parts[1] !== ledger.ledgerId || offsets.length !== ledger.partitions) return { kind: "gone" };
  if (!offsets.every(Number.isSafeInteger)) return { kind: "malformed" };
  return { kind: "cursor", positions: new Map(offsets.map((offset, partition) => [partition, offset as Offset] as const)) };
}

/** A session's cursor is the seq of the last event that was read; null where the text is none. */
export function parseSeq(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The first partition in which a cursor lies behind the ledger's end; null where it lies within. */
export function aheadOf(positions: Vector, ends: Vector): number | null {
  for (const [partition, offset] of positions) if (offset > (ends.get(partition) ?? 0)) return partition;
  return null;
}
