/** What makers and checks printed, cycle by cycle: the whole from the blob store, or the tail that the record keeps. */
import type { CycleLog } from "@loopledger/shared/core/events/fields";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import { whyIn } from "@loopledger/shared/core/session/explain-text";
import type { EventRow } from "./event-rows.ts";
import type { Reader } from "./reader.ts";

export interface LogPart {
  readonly seq: number;
  readonly iteration: number;
  readonly leaf: string;
  readonly source: "maker" | "check";
  /** The handler's name. */
  readonly by: string;
  /** `built`, the verdict, or the failure's code. */
  readonly outcome: string;
  /** Why there is no verdict, why the check could not run, or what the failure was; null where the output speaks for itself. */
  readonly why: string | null;
  readonly text: string;
  /** Bytes that were printed in all. */
  readonly bytes: number;
  /** Whether the text is all that was printed. */
  readonly whole: boolean;
}

/** Of each cycle that has ended and printed something, in order. */
export async function* logParts(reader: Reader, sessionId: string, rows: AsyncIterable<EventRow>): AsyncGenerator<LogPart> {
  let cycle = { iteration: 0, leaf: "" };
  for await (const row of rows) {
    if (row.kind !== "accepted") continue;
    const { record, seq } = row;
    if (record.type === "dispatched") cycle = { iteration: record.data.iteration, leaf: record.data.leaf };
    const printed = printedBy(record);
    if (printed) yield { seq, ...cycle, ...printed.said, ...(await textOf(reader, sessionId, printed.log)) };
  }
}

interface Printed { readonly log: CycleLog; readonly said: Pick<LogPart, "source" | "by" | "outcome" | "why"> }

function printedBy(record: LedgerRecord): Printed | null {
  const by = record.actor.id.split("@")[0] ?? record.actor.id;
  switch (record.type) {
    case "built": return record.data.log ? { log: record.data.log, said: { source: "maker", by, outcome: "built", why: null } } : null;
    case "check": return record.data.log ? { log: record.data.log, said: { source: "check", by, outcome: record.data.verdict, why: whyIn(record.data.evidence) } } : null;
    case "cycle_failed": {
      const source = record.actor.kind === "checker" ? "check" : "maker";
      return record.data.log ? { log: record.data.log, said: { source, by, outcome: record.data.code, why: record.data.message } } : null;
    }
    default: return null;
  }
}

/** A blob that is missing is told as missing: the tail never passes for the whole. */
async function textOf(reader: Reader, sessionId: string, log: CycleLog): Promise<Pick<LogPart, "text" | "bytes" | "whole">> {
  const content = log.blob === undefined ? null : await reader.payload(sessionId, log.blob);
  const text = content === null ? log.tail : new TextDecoder().decode(content);
  const shown = content === null ? Buffer.byteLength(log.tail) : content.byteLength;
  return { text, bytes: log.bytes, whole: shown >= log.bytes };
}
