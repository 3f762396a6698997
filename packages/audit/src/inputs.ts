/** The forms of the audit's inputs. Every one is a list of JSON lines; all but the ledger may be left out. */
import { z } from "zod";
import { voidReasons } from "./rows.ts";

const place = { partition: z.int().min(0), offset: z.int().min(0) };
/** Milliseconds since 1970, or ISO 8601. */
const instant = z.union([z.number(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]);

/** A row of `ledger dump`. `text` stands where the value, written anew, would not give the same bytes. */
export const dumpRow = z.object({
  ...place, time: z.number(), key: z.string().nullable(), headers: z.record(z.string(), z.unknown()).optional(), value: z.unknown(),
  text: z.string().optional(), verified: z.enum(["yes", "no", "off"]).optional(),
});
/** What a reader made of an entry: a row of `ledger dump --verdicts`. */
export const verdictRow = z.object({
  ...place, verdict: z.enum(["accepted", "void", "held"]), reason: z.enum(voidReasons).nullish(), seq: z.int().min(1).nullish(), release: z.string().optional(),
});
export const effectRow = z.object({
  kind: z.enum(["call", "application", "lookup", "refused"]), tool: z.string(), key: z.string(), session: z.string(), epoch: z.int().min(0),
  argsDigest: z.string().nullish(), at: instant,
  /** The target's own name for what was intended, where the generator gave one: equal for a call that was worded anew. */
  action: z.string().optional(),
});
export const ackRow = z.object({ ...place, eventId: z.string(), digest: z.string().optional() });
/** A view, a projection's cursor (the next offset to project), or the remark that a projection was begun from zero. */
const viewRow = z.object({
  kind: z.literal("view"), sessionId: z.string(), status: z.record(z.string(), z.unknown()), projection: z.string().optional(),
  /** The next offset to project when the view was read; left out: the end of the ledger. */
  partition: z.int().min(0).optional(), next: z.int().min(0).optional(),
});
const cursorRow = z.object({ kind: z.literal("cursor"), partition: z.int().min(0), next: z.int().min(0), projection: z.string().optional(), ledgerId: z.string().optional() });
const rebuiltRow = z.object({ kind: z.literal("rebuilt"), projection: z.string().optional() });
/** A bare status document, as `ls --json` prints it. */
const bareView = z.looseObject({ sessionId: z.string(), disposition: z.string(), cursor: z.unknown().optional() })
  .transform(({ cursor: _, ...status }): z.infer<typeof viewRow> => ({ kind: "view", sessionId: status.sessionId, status }));
export const viewsRow = z.union([z.discriminatedUnion("kind", [viewRow, cursorRow, rebuiltRow]), bareView]);
/** One event that a client of a stream was sent, in order of arrival. `connection` tells reconnects apart. */
export const clientRow = z.object({
  client: z.string(), sessionId: z.string(), seq: z.int().min(1), eventId: z.string().optional(), connection: z.union([z.string(), z.number()]).optional(),
});
export const deadLetterRow = z.looseObject({
  id: z.string().optional(), reason: z.string(), source: z.object({ topic: z.string(), partition: z.int().min(0), offset: z.union([z.int(), z.string()]).transform(Number) }),
});
/** A fault that was to be injected, whether it really was, and when its time was over. */
export const faultRow = z.object({ name: z.string(), fired: z.boolean(), at: instant.optional(), until: instant.optional() });
/** What the generator of the run knows. */
export const expectedRow = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("session"), sessionId: z.string(), ends: z.string().optional(), keys: z.array(z.string()).optional() }),
  z.object({ kind: z.literal("canary"), text: z.string().min(8) }),
  z.object({ kind: z.literal("malformed"), topic: z.string(), partition: z.int(), offset: z.int() }),
  z.object({ kind: z.literal("goal"), topic: z.string(), partition: z.int(), offset: z.int(), sessionId: z.string() }),
  z.object({ kind: z.literal("approver"), id: z.string() }),
  z.object({ kind: z.literal("absent"), path: z.string() }),
]);
export const blobRow = z.object({ digest: z.string(), bytes: z.int().min(0) });
/** The digest of an event's schema, as a release has it. */
export const schemaRow = z.object({ type: z.string(), typeVersion: z.int().min(1), digest: z.string(), release: z.string() });

export type DumpRow = z.infer<typeof dumpRow>;
export type VerdictRow = z.infer<typeof verdictRow>;
export type EffectRow = z.infer<typeof effectRow>;
export type AckRow = z.infer<typeof ackRow>;
export type ViewsRow = z.infer<typeof viewsRow>;
export type ClientRow = z.infer<typeof clientRow>;
export type DeadLetterRow = z.infer<typeof deadLetterRow>;
export type FaultRow = z.infer<typeof faultRow>;
export type ExpectedRow = z.infer<typeof expectedRow>;
export type BlobRow = z.infer<typeof blobRow>;
export type SchemaRow = z.infer<typeof schemaRow>;

export interface AuditInputs {
  readonly ledger: readonly DumpRow[];
  readonly verdicts?: readonly VerdictRow[] | undefined;
  readonly effects?: readonly EffectRow[] | undefined;
  readonly acks?: readonly AckRow[] | undefined;
  readonly views?: readonly ViewsRow[] | undefined;
  readonly clients?: readonly ClientRow[] | undefined;
  /** Lines of service logs. */
  readonly logs?: readonly string[] | undefined;
  readonly deadLetters?: readonly DeadLetterRow[] | undefined;
  readonly faults?: readonly FaultRow[] | undefined;
  readonly expected?: readonly ExpectedRow[] | undefined;
  readonly blobs?: readonly BlobRow[] | undefined;
  readonly schemas?: readonly SchemaRow[] | undefined;
}
export interface AuditOptions {
  /** How long after the faults' end something may still be under way, in milliseconds. */
  readonly withinMs?: number;
  /** When the run was looked at last, in milliseconds since 1970; left out: the last time that any input carries. */
  readonly endedAt?: number;
  /** By how much the target's clock may lag behind the log's, in milliseconds. */
  readonly clockLagMs?: number;
  /** Whether a file is there, for the canary file of the injection corpus. */
  readonly exists?: (path: string) => boolean;
}

/** Input that is none. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}
/** Rows of a text of JSON lines; throws `BadInput` naming the line. */
export function readRows<T>(text: string, schema: z.ZodType<T>, what: string): T[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const read = schema.safeParse(parsed(line, `${what}, line ${index + 1}`));
    if (read.success) return [read.data];
    const [issue] = read.error.issues;
    throw new BadInput(`${what}, line ${index + 1}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? "does not fit"}`.replaceAll(/\s+/g, " "));
  });
}
function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new BadInput(`${where} is no JSON`);
  }
}
