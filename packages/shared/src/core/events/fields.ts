/** Field schemas that several events share. Ids, digests and bounds are spelled here once. */
import { z } from "zod";
import type { Digest, Epoch, EventId, OwnerId, Seq, SessionId } from "../brand.ts";
import { isWholeText } from "../json.ts";
import { sessionIdPattern } from "../session-id.ts";
import { jsonField } from "./json-field.ts";

export const sessionId = z.string().regex(sessionIdPattern) as unknown as z.ZodType<SessionId>;
/** Whole characters, because ids are hashed as UTF-8: two different halves would make one derived id. */
const id = z.string().min(1).max(128).refine(isWholeText, "holds half a character or NUL");
export const eventId = id as unknown as z.ZodType<EventId>;
export const ownerId = id as unknown as z.ZodType<OwnerId>;
export const epoch = z.int().min(1) as unknown as z.ZodType<Epoch>;
export const seq = z.int().min(0) as unknown as z.ZodType<Seq>;
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/) as unknown as z.ZodType<Digest>;
export const json = jsonField();
/** Whole characters only; `max` counts UTF-16 units. */
export const text = (max: number) =>
  z.string().max(max).refine(isWholeText, "holds half a character or NUL");
export const name = text(128).min(1);
export const key = text(512).min(1);
export const leafId = text(128).min(1);
export const cycle = z.enum(["build", "review"]);
export type Cycle = z.infer<typeof cycle>;

export const usage = z.strictObject({
  costUsd: z.number().min(0).optional(),
  tokensIn: z.int().min(0).optional(),
  tokensOut: z.int().min(0).optional(),
  model: name.optional(),
  /** The reservation that this spend settles. */
  reservation: name.optional(),
});
export type Usage = z.infer<typeof usage>;

/** What a cycle printed: the whole as a blob, its tail as text. */
export const log = z.strictObject({ blob: digest.optional(), bytes: z.int().min(0), tail: text(8192) });
export type CycleLog = z.infer<typeof log>;

export const contract = z.enum(["none", "idempotent", "lookup", "unsafe"]);
export type Contract = z.infer<typeof contract>;
export const verdict = z.enum(["PASS", "FAIL", "INCONCLUSIVE"]);
export type CheckVerdict = z.infer<typeof verdict>;
export const disposition = z.enum(["running", "waiting", "done", "handed_off", "failed", "cancelled"]);
export type Disposition = z.infer<typeof disposition>;
export const reason = z.enum([
  "approval", "retry", "children", "budget_exhausted", "unknown_schema", "evidence_missing", "handler_missing",
  "check_changed", "paused", "contradictory_verdict", "check_unavailable", "no_progress", "deterministic_error",
  "retries_exhausted", "takeover_limit", "approval_rejected", "approval_expired", "incomplete_tool_turn",
  "ledger_lost", "no_mutation_owed", "cancelled",
]);
export type Reason = z.infer<typeof reason>;
export const amounts = z.strictObject({ costUsd: z.number().min(0).optional(), tokens: z.int().min(0).optional() });
export type Amounts = z.infer<typeof amounts>;
