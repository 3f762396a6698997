/** The envelope around every event, and the two ways across the boundary: text in, text out. */
import { z } from "zod";
import type { Epoch, EventId, OwnerId, Seq, SessionId } from "../brand.ts";
import type { ActorKind } from "./define.ts";
import * as f from "./fields.ts";
import type { DataOf, EventType } from "./index.ts";

export interface Actor {
  readonly kind: ActorKind;
  /** A principal: a person's name, a process, or `handler@sha256:…` for makers and checkers. */
  readonly id: string;
}
export interface Cause {
  readonly eventId: EventId;
  /** Filled in by readers and never judged. */
  readonly seq?: Seq | undefined;
}
interface Envelope<T extends EventType> {
  readonly v: 1;
  readonly ledgerId: string;
  readonly eventId: EventId;
  readonly sessionId: SessionId;
  readonly type: T;
  readonly typeVersion: number;
  /** Owner records: the tenure's token, its holder, and the dense number within it. */
  readonly epoch?: Epoch | undefined;
  readonly ownerId?: OwnerId | undefined;
  readonly n?: number | undefined;
  /** Derived records: what called for them. Owner records: the dispatch that they serve. */
  readonly cause?: Cause | undefined;
  /** The writer's clock, ISO 8601; shown, never judged. */
  readonly at: string;
  readonly actor: Actor;
  readonly data: DataOf<T>;
  readonly sig?: string | undefined;
}
/** One record of the ledger; `type` discriminates `data`. */
export type LedgerRecord = { [T in EventType]: Envelope<T> }[EventType];
export type RecordOf<T extends EventType> = Envelope<T>;

export const actor = z.strictObject({
  kind: z.enum(["human", "intake", "scheduler", "worker", "maker", "checker", "store"]), id: f.text(512).min(1),
});
export const envelope = z.strictObject({
  v: z.literal(1), ledgerId: f.name, eventId: f.eventId, sessionId: z.string().min(1).max(160), type: f.name,
  typeVersion: z.int().min(1), epoch: f.epoch.optional(), ownerId: f.ownerId.optional(), n: z.int().min(1).optional(),
  cause: z.strictObject({ eventId: f.eventId, seq: f.seq.optional() }).optional(), at: f.text(64), actor,
  data: z.unknown(), sig: f.text(512).optional(),
});
