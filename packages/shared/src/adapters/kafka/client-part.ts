/** A part of a fetch as the client's own decoder gives it, made what ours gives: for batches and versions that ours leaves to the client. */
import type { FetchedPart, FetchedRecord } from "./records.ts";
import { TakenBack } from "./taken-back.ts";

interface ClientRecord extends Omit<FetchedRecord, "isNoRecord"> {
  readonly isControlRecord?: boolean;
  /** Missing where the format knows no producers. */
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean };
}
export interface ClientPart extends Omit<FetchedPart, "messages" | "lastStableOffset" | "end"> {
  readonly highWatermark: string;
  /** Missing in versions that know no transactions. */
  readonly lastStableOffset?: string;
  readonly abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[] | null;
  readonly messages: readonly ClientRecord[];
}

export function partOf(part: FetchedPart | ClientPart): FetchedPart {
  if (!("highWatermark" in part)) return part;
  const takenBack = new TakenBack((part.abortedTransactions ?? []).map(({ producerId, firstOffset }) => ({ producerId: Number(producerId), firstOffset: Number(firstOffset) })));
  const messages = part.messages.map((record): FetchedRecord => ({ ...record, isNoRecord: isNoRecord(record, takenBack) }));
  return { ...part, lastStableOffset: part.lastStableOffset ?? part.highWatermark, end: part.highWatermark, messages };
}

function isNoRecord({ offset, key, isControlRecord = false, batchContext }: ClientRecord, takenBack: TakenBack): boolean {
  if (batchContext?.inTransaction !== true) return isControlRecord;
  const producer = Number(batchContext.producerId);
  const isTakenBack = takenBack.has(producer, Number(offset));
  if (isControlRecord) takenBack.mark(producer, key);
  return isControlRecord || isTakenBack;
}
