/** Whole records, and the entries of a log that hold them. Everything goes through the text, as in a real log. */
import type { Epoch, EventId, LogTime, Offset, OwnerId, SessionId } from "../core/brand.ts";
import type { ActorKind } from "../core/events/define.ts";
import type { Actor, LedgerRecord, RecordOf } from "../core/events/envelope.ts";
import { type DataOf, type EventType, catalogue } from "../core/events/index.ts";
import { parseRecord } from "../core/events/parse.ts";
import type { FoldEntry } from "../core/session/evolve.ts";
import { isoOf } from "../core/session/iso.ts";
import { dataDefaults } from "./data.ts";
import { firstInstant } from "./step-clock.ts";

export const testSession = "session-1" as SessionId;
const testLedger = "ledger-1";

/** Who usually writes what: the first of a type's writers under a name that tests can read. */
const names: Readonly<Record<ActorKind, string>> = {
  human: "ann", intake: "intake", scheduler: "scheduler", worker: "worker", maker: "agent@sha256:1", checker: "tests@sha256:2", store: "store",
};
export function actorOf(kind: ActorKind, id: string = names[kind]): Actor {
  return { kind, id };
}

/** What of the envelope a test may name. */
export type Envelope = Partial<Omit<LedgerRecord, "data" | "type" | "cause">> & { readonly cause?: EventId | undefined };

let count = 0;
/** An id that no other record of this process has. */
function freshId(prefix = "e"): EventId {
  return `${prefix}-${++count}` as EventId;
}

export function recordOf<T extends EventType>(type: T, data: Partial<DataOf<T>> = {}, envelope: Envelope = {}): RecordOf<T> {
  const { cause, ...named } = envelope;
  return {
    v: 1, ledgerId: testLedger, eventId: freshId(type), sessionId: testSession, type, typeVersion: 1, at: isoOf(firstInstant),
    actor: actorOf(catalogue[type].writers[0] ?? "scheduler"), ...named, ...(cause === undefined ? {} : { cause: { eventId: cause } }),
    data: { ...dataDefaults[type](), ...data },
  } as RecordOf<T>;
}

export interface OwnerRecords {
  readonly ownerId: OwnerId;
  readonly epoch: Epoch;
  /** The next record of this tenure, numbered. */
  next<T extends EventType>(type: T, data?: Partial<DataOf<T>>, envelope?: Envelope): RecordOf<T>;
}
/** Numbers the records of one tenure: n = 1, 2, … for one dispatch, or for the one that an envelope names as its cause. */
export function ownerRecords(tenure: { ownerId: string; epoch: number; dispatch: EventId; n?: number }): OwnerRecords {
  let n = tenure.n ?? 0;
  const ownerId = tenure.ownerId as OwnerId;
  const epoch = tenure.epoch as Epoch;
  return {
    ownerId, epoch,
    next: (type, data, envelope) => recordOf(type, data, { ownerId, epoch, n: ++n, cause: tenure.dispatch, ...envelope }),
  };
}

export type Place = Partial<Pick<FoldEntry, "key" | "time" | "partition" | "offset" | "verified">>;

/** The entry of a text as a reader hands it to the fold. */
export function entryOfText(text: string, place: Place = {}): FoldEntry {
  return {
    parsed: parseRecord(text), text, key: place.key ?? testSession, time: place.time ?? (firstInstant as LogTime),
    partition: place.partition ?? 0, offset: place.offset ?? (0 as Offset), verified: place.verified ?? "off",
  };
}
export function entryOf(record: LedgerRecord, place: Place = {}): FoldEntry {
  return entryOfText(JSON.stringify(record), { key: record.sessionId, ...place });
}
