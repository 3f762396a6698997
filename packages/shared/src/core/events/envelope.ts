/** The envelope around every event, and the two ways across the boundary: text in, text out. */
import { z } from "zod";
import type { Epoch, EventId, OwnerId, Seq, SessionId } from "../brand.ts";
import type { ActorKind } from "./define.ts";
import { isWholeText } from "../json.ts";
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

const actor = z.strictObject({
  kind: z.enum(["human", "intake", "scheduler", "worker", "maker", "checker", "store"]), id: f.text(512).min(1),
});
export const envelope = z.strictObject({
  v: z.literal(1), ledgerId: f.name, eventId: f.eventId, sessionId: z.string().min(1).max(160), type: f.name,
  typeVersion: z.int().min(1), epoch: f.epoch.optional(), ownerId: f.ownerId.optional(), n: z.int().min(1).optional(),
  cause: z.strictObject({ eventId: f.eventId, seq: f.seq.optional() }).optional(), at: f.text(64), actor,
  data: z.unknown(), sig: f.text(512).optional(),
});

const actorKinds: ReadonlySet<unknown> = new Set(actor.shape.kind.options);
const isText = (value: unknown, most: number): boolean => typeof value === "string" && value.length <= most && isWholeText(value);
const isName = (value: unknown, most = 128): boolean => isText(value, most) && value !== "";
const isCount = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && (value as number) >= least;
/** Members that every envelope has. */
const membersMin = 9;

/**
 * True only of what `envelope` accepts as it stands: then its parse, which copies the whole and costs more than the fold of the
 * record, can be left out. False says nothing: a value of any other shape is for `envelope` to judge and to explain.
 */
export function isPlainEnvelope(value: unknown): value is z.infer<typeof envelope> {
  if (value === null || typeof value !== "object") return false;
  const members = value as Readonly<Record<string, unknown>>;
  let needed = 0;
  for (const name in members) {
    const member = members[name];
    switch (name) {
      case "v": if (member !== 1) return false; needed++; break;
      case "ledgerId": case "type": case "eventId": if (!isName(member)) return false; needed++; break;
      case "sessionId": if (typeof member !== "string" || member === "" || member.length > 160) return false; needed++; break;
      case "typeVersion": if (!isCount(member, 1)) return false; needed++; break;
      case "at": if (!isText(member, 64)) return false; needed++; break;
      case "actor": if (!isPlainActor(member)) return false; needed++; break;
      case "data": if (member === undefined) return false; needed++; break;
      case "epoch": case "n": if (!isCount(member, 1)) return false; break;
      case "ownerId": if (!isName(member)) return false; break;
      case "cause": if (!isPlainCause(member)) return false; break;
      case "sig": if (!isText(member, 512)) return false; break;
      default: return false;
    }
  }
  return needed === membersMin;
}
function isPlainActor(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) if (name !== "kind" && name !== "id") return false;
  return actorKinds.has(members["kind"]) && isName(members["id"], 512);
}
function isPlainCause(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) if (name !== "eventId" && !(name === "seq" && isCount(members[name], 0))) return false;
  return isName(members["eventId"]);
}
