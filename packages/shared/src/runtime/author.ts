/**
 * Makes records: the envelope around data, checked once against the schema, and its text for the ledger.
 * What the fold itself derived is not checked again.
 */
import type { Epoch, EventId, OwnerId, SessionId } from "../core/brand.ts";
import type { Actor, LedgerRecord } from "../core/events/envelope.ts";
import type { DataOf, EventType } from "../core/events/index.ts";
import { readRecord } from "../core/events/parse.ts";
import type { RunningDigest } from "../core/session/evolve.ts";
import type { DerivedDraft } from "../core/session/derive.ts";
import type { Clock, Ids } from "../ports/index.ts";

/** What is to be written, before it has an id, a time and a place. */
export type Draft = { [T in EventType]: { readonly type: T; readonly data: DataOf<T>; readonly actor: Actor } }[EventType];

export interface Written {
  readonly record: LedgerRecord;
  readonly text: string;
  /** Where it was folded ahead: what its text led to. */
  readonly running?: RunningDigest;
}
export interface Tenancy {
  readonly epoch: Epoch;
  readonly ownerId: OwnerId;
  readonly n?: number;
  /** The dispatch that the record serves. */
  readonly dispatch?: EventId;
}

/** An envelope that is being filled in. */
interface Unread {
  readonly v: 1;
  readonly ledgerId: string;
  readonly eventId: EventId;
  readonly sessionId: SessionId;
  readonly type: EventType;
  readonly typeVersion: number;
  readonly at: string;
  epoch?: Epoch;
  ownerId?: OwnerId;
  n?: number;
  cause?: { readonly eventId: EventId };
  actor?: Actor;
  data?: unknown;
}

export class InvalidRecord extends Error {
  override readonly name = "InvalidRecord";
}

export class Author {
  readonly #ledgerId: string;
  readonly #clock: Clock;
  readonly #ids: Ids;
  #at = { ms: Number.NaN, text: "" };

  constructor(deps: { readonly ledgerId: string; readonly clock: Clock; readonly ids: Ids }) {
    this.#ledgerId = deps.ledgerId;
    this.#clock = deps.clock;
    this.#ids = deps.ids;
  }

  /** A record of an owner, or an act. Throws `InvalidRecord` where the data breaks its schema: a bug of the caller. */
  write(sessionId: SessionId, draft: Draft, by: Partial<Tenancy> & { readonly eventId?: EventId } = {}): Written {
    const value: Unread = this.#envelope(sessionId, draft.type, by.eventId ?? (this.#ids.uuid() as EventId));
    if (by.epoch !== undefined) value.epoch = by.epoch;
    if (by.ownerId !== undefined) value.ownerId = by.ownerId;
    if (by.n !== undefined) value.n = by.n;
    if (by.dispatch !== undefined) value.cause = { eventId: by.dispatch };
    value.actor = draft.actor;
    value.data = draft.data;
    const parsed = readRecord(value);
    if (parsed.kind !== "record") throw new InvalidRecord(`${draft.type}: ${parsed.detail}`);
    return { record: parsed.record, text: JSON.stringify(parsed.record) };
  }

  /** What the fold says is owed, in the scheduler's name. */
  derive(sessionId: SessionId, draft: DerivedDraft, actor: Actor): Written {
    const value: Unread = this.#envelope(sessionId, draft.type, draft.eventId);
    value.cause = { eventId: draft.cause };
    value.actor = actor;
    value.data = draft.data;
    return { record: value as unknown as LedgerRecord, text: JSON.stringify(value) };
  }

  #envelope(sessionId: SessionId, type: EventType, eventId: EventId): Unread {
    return { v: 1, ledgerId: this.#ledgerId, eventId, sessionId, type, typeVersion: 1, at: this.#now() };
  }
  /** Many records are made in one millisecond. */
  #now(): string {
    const ms = this.#clock.now();
    if (ms !== this.#at.ms) this.#at = { ms, text: new Date(ms).toISOString() };
    return this.#at.text;
  }
}
