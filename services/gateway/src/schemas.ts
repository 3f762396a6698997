/** The forms of the API as zod schemas: what is asked is checked against them, what is answered is described by them. */
import { z } from "zod";
import { decision } from "@loopledger/shared/core/events/approval-decided";
import { trigger } from "@loopledger/shared/core/events/approval-requested";
import { sessionIdPattern } from "@loopledger/shared/core/session-id";
import { contract, cycle, disposition, json, key, name, reason, text, verdict } from "@loopledger/shared/core/events/fields";
import { goal, goalBytesMax, leaf } from "@loopledger/shared/core/events/goal";
import type { CheckpointView } from "@loopledger/shared/core/session/checkpoint-view";
import type { StatusView } from "@loopledger/shared/core/session/status";
import type { DeadLetterRow } from "@loopledger/shared/ports";
import type { ShownLetter } from "@loopledger/shared/runtime";

const why = text(2048).optional();
const seq = z.int().min(0);

export const params = {
  session: z.strictObject({ id: z.string().regex(sessionIdPattern) }),
  checkpoint: z.strictObject({ id: z.string().regex(sessionIdPattern), checkpoint: name }),
  letter: z.strictObject({ id: z.string().min(1).max(300) }),
  blob: z.strictObject({ id: z.string().regex(sessionIdPattern), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) }),
};
const limit = (max: number, usual: number) => z.coerce.number().int().min(1).max(max).default(usual);
export const queries = {
  none: z.strictObject({}),
  list: z.strictObject({
    disposition: disposition.optional(), label: z.string().regex(/^[^=]{1,128}=.{0,256}$/, "must be name=value").optional(),
    cursor: z.string().min(1).max(300).optional(), limit: limit(500, 50),
  }),
  letters: z.strictObject({ cursor: z.string().min(1).max(300).optional(), limit: limit(500, 50) }),
  status: z.strictObject({ atLeast: z.coerce.number().int().min(0).optional() }),
  explain: z.strictObject({ at: z.coerce.number().int().min(0).optional() }),
  events: z.strictObject({ after: z.coerce.number().int().min(0).default(0), limit: limit(1000, 100), void: z.stringbool().default(false) }),
  stream: z.strictObject({ after: z.string().max(2_000).optional() }),
};

export const bodies = {
  goal,
  cancel: z.strictObject({ reason: why }),
  pause: z.strictObject({ now: z.boolean().optional(), reason: why }),
  resume: z.strictObject({ acceptCheck: z.boolean().optional(), reason: why }),
  guidance: z.strictObject({ text: text(65_536).min(1) }),
  budget: z.strictObject({
    iterations: z.int().min(1).optional(), costUsd: z.number().positive().optional(), tokens: z.int().min(1).optional(), wallSeconds: z.number().positive().optional(),
  }).refine((added) => Object.keys(added).length > 0, "adds nothing: name iterations, costUsd, tokens or wallSeconds"),
  checkpoint: z.strictObject({ reason: text(2048).min(1) }),
  /** The original as it was, or with another value, or under another session's name (null: none). */
  replay: z.strictObject({ text: text(goalBytesMax).optional(), key: z.string().regex(sessionIdPattern).nullable().optional() }),
  reconciliation: z.strictObject({ key, outcome: z.enum(["happened", "did_not_happen"]), evidence: json, result: json.optional() }),
  decision: z.strictObject({
    decision, action: json.optional(), comment: text(8192).optional(),
    /** What was shown, where that was elsewhere: the answer then counts for that and for nothing else. */
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/).optional(),
  }).refine((answer) => (answer.decision === "MODIFY") === (answer.action !== undefined), "MODIFY, and only MODIFY, takes an action"),
};

const budgetLine = z.object({ limit: z.number().nullable(), reserved: z.number(), spent: z.number(), remaining: z.number().nullable() });
const effect = z.object({ key: z.string(), tool: z.string(), contract, state: z.enum(["intended", "confirmed", "failed", "unknown"]), seq });
const waitingOn = z.object({ kind: z.string(), id: z.string(), since: z.string(), expires: z.string().nullable() });
const receipt = z.object({
  sessionId: z.string(), goalDigest: z.string(), check: z.object({ name: z.string(), digest: z.string() }), pinned: z.array(z.string()),
  revision: z.string().nullable(), evidenceDigest: z.string(), finalCheckSeq: seq, ledgerDigest: z.string(), seq,
});
const lastVerdict = z.object({ verdict, next_steps: z.array(json), evidence: json, revision: z.string().nullable(), seq });

const status = z.object({
  sessionId: z.string(), goal: z.object({ text: z.string(), digest: z.string() }).nullable(),
  disposition, reason: reason.nullable(), error: z.string().nullable(), asOf: seq,
  position: z.object({ partition: z.int(), offset: z.int() }).nullable(), epoch: z.int(),
  owner: z.object({ id: z.string(), role: z.string() }).nullable(), active: cycle.nullable(), iteration: z.int(), task: z.string().nullable(),
  leaves: z.array(z.object({ id: z.string(), title: z.string(), status: z.string(), passes: z.boolean(), seq })),
  effects: z.array(effect), verdict: lastVerdict.nullable(), budget: z.record(z.string(), budgetLine), waitingOn: z.array(waitingOn),
  children: z.array(z.object({ id: z.string(), open: z.boolean(), disposition: z.string().nullable() })), receipt: receipt.nullable(),
  void: z.record(z.string(), z.int()), attempt: z.int(), takeovers: z.int(), labels: z.record(z.string(), z.string()), parent: z.string().nullable(),
  createdAt: z.string().nullable(), at: z.string().nullable(), endedAt: z.string().nullable(),
}) satisfies z.ZodType<Omit<StatusView, "budget" | "receipt">>;

/** The envelope of an accepted record and its seq; of a refused one, why it changed nothing. */
const event = z.looseObject({
  v: z.literal(1), ledgerId: z.string(), eventId: z.string(), sessionId: z.string(), type: z.string(), typeVersion: z.int(), at: z.string(),
  actor: z.object({ kind: z.string(), id: z.string() }), data: json, seq: seq.optional(), void: z.string().optional(),
});
const checkpointView = z.object({
  sessionId: z.string(), checkpoint: z.string(), standing: z.enum(["pending", "decided", "expired", "withdrawn"]), trigger, action: json, digest: z.string(),
  requestedBy: z.string(), since: z.string(), expires: z.string().nullable(), decision: z.string().nullable(), seq,
}) satisfies z.ZodType<CheckpointView>;
const source = z.object({ topic: z.string(), partition: z.int(), offset: z.int() });
const letterRow = z.object({
  id: z.string(), reason: z.string(), detail: z.string(), at: z.string(), source, keyText: z.string().nullable(), bytes: z.int().nullable(), replayedAt: z.string().nullable(),
}) satisfies z.ZodType<DeadLetterRow>;
const shownBytes = z.object({ base64: z.string(), text: z.string().nullable() });
const letter = letterRow.extend({ isCut: z.boolean(), key: shownBytes.nullable(), value: shownBytes.nullable(), headers: z.record(z.string(), shownBytes), repeats: z.record(z.string(), z.array(shownBytes)).optional() }) satisfies z.ZodType<ShownLetter>;
const replayed = z.object({ id: z.string(), replayed: z.literal(true), at: z.string(), topic: z.string(), before: z.string().nullable() });
const page = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() });

export const answers = {
  status, event, checkpoint: checkpointView.extend({ markdown: z.string() }), sessions: page(status), events: page(event), approvals: page(checkpointView), letters: page(letterRow), letter, replayed,
  problem: z.object({ type: z.string(), title: z.string(), status: z.int(), code: z.string(), detail: z.string(), next: z.string(), faults: z.array(z.string()).optional() }),
  health: z.object({ status: z.string() }), readiness: z.object({ status: z.string(), faults: z.array(z.string()) }), any: json,
};
/** Schemas that have a name of their own in the description of the API. */
export const named = { Goal: goal, Leaf: leaf, Json: json, Status: status, Event: event, Checkpoint: checkpointView, Problem: answers.problem } as const;
