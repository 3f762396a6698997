/**
 * Makes records: the envelope around data, checked once against the schema, and its text for the ledger.
 * What the fold itself derived is not checked again.
 */
import type { Epoch, EventId, OwnerId, SessionId } from "../core/brand.ts";
import type { Actor, LedgerRecord } from "../core/events/envelope.ts";
import type { DataOf, EventType } from "../core/events/index.ts";
import { readRecord } from "../core/events/parse.ts";
import type { DerivedDraft } from "../core/session/derive.ts";
import type { Clock, Ids } from "../ports/index.ts";

/** What is to be written, before it has an id, a time and a place. */
export type Draft = { [T in EventType]: { readonly type: T; readonly data: DataOf<T>; readonly actor: Actor } }[EventType];

export interface Written {
  readonly record: LedgerRecord;
  readonly text: string;
}
export interface Tenancy {
  readonly epoch: Epoch;
  readonly ownerId: OwnerId;
  readonly n?: number;
  /** The dispatch that the record serves. */
  readonly dispatch?: EventId;
}

export class InvalidRecord extends Error {
  override readonly name = "InvalidRecord";
}

export class Author {
  readonly #ledgerId: string;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(deps: { readonly ledgerId: string; readonly clock: Clock; readonly ids: Ids }) {
    this.#ledgerId = deps.ledgerId;
    this.#clock = deps.clock;
    this.#ids = deps.ids;
  }

  /** A record of an owner, or an act. Throws `InvalidRecord` where the data breaks its schema: a bug of the caller. */
  write(sessionId: SessionId, draft: Draft, by: Partial<Tenancy> & { readonly eventId?: EventId } = {}): Written {
    const value = {
      ...this.#envelope(sessionId, draft.type, by.eventId ?? (this.#ids.uuid() as EventId)),
      ...(by.epoch !== undefined && { epoch: by.epoch }), ...(by.ownerId !== undefined && { ownerId: by.ownerId }),
      ...(by.n !== undefined && { n: by.n }), ...(by.dispatch !== undefined && { cause: { eventId: by.dispatch } }),
      actor: draft.actor, data: draft.data,
    };
    const parsed = readRecord(value);
    if (parsed.kind !== "record") throw new InvalidRecord(`${draft.type}: ${parsed.detail}`);
    return { record: parsed.record, text: JSON.stringify(parsed.record) };
  }

  /** What the fold says is owed, in the scheduler's name. */
  derive(sessionId: SessionId, draft: DerivedDraft, actor: Actor): Written {
    const record = {
      ...this.#envelope(sessionId, draft.type, draft.eventId), cause: { eventId: draft.cause }, actor, data: draft.data,
    } as LedgerRecord;
    return { record, text: JSON.stringify(record) };
  }

  #envelope(sessionId: SessionId, type: EventType, eventId: EventId) {
    return {
      v: 1 as const, ledgerId: this.#ledgerId, eventId, sessionId, type, typeVersion: 1, at: new Date(this.#clock.now()).toISOString(),
    };
  }
}
