/** Every refusal of the API as a problem document (RFC 9457): each code has its status and what to do next. A closed list. */
import { STATUS_CODES } from "node:http";
import { type LoopledgerError, isLoopledgerError } from "@loopledger/shared/core/errors";

const entries = {
  invalid_request: [400, "Mend the request as the detail says; the same request again is refused again."],
  invalid_goal: [400, "Mend the goal as the faults say; `loopledger validate FILE` checks it again."],
  invalid_cursor: [400, "Take the cursor from the last answer, unchanged, or leave it out."],
  cursor_ahead: [409, "Take the cursor from this ledger's own answers. If records are missing, look at the ledger before you go on."],
  cursor_gone: [410, "Read GET /v1/sessions for how things stand, then follow the stream without a cursor."],
  seq_ahead: [409, "Ask again in a moment, or ask without atLeast; the detail says how far the session is."],
  unknown_session: [404, "List the sessions at GET /v1/sessions."],
  unknown_checkpoint: [404, "List what waits for a decision at GET /v1/approvals."],
  unknown_effect: [404, "Read the session's effects at GET /v1/sessions/{id}."],
  unknown_blob: [404, "The payload is missing or never existed; the session's events name those that there are."],
  unknown_dead_letter: [404, "List the dead letters at GET /v1/dead-letters."],
  dead_letter_cut: [409, "Its original was too large to be kept whole: send a mended text, or have its sender send it again."],
  not_found: [404, "See the paths in /openapi.json."],
  method_not_allowed: [405, "Use a method that the Allow header names."],
  payload_too_large: [413, "Send less: a goal has at most 256 KiB, any other body 1 MiB. Put large material into files and name them in inputs."],
  unsupported_media_type: [415, "Send application/json or application/yaml."],
  forbidden_host: [403, "Call it as 127.0.0.1 or localhost: this API is for programs on this machine."],
  forbidden_origin: [403, "Call it from a program; a web page of another origin may not drive it."],
  too_many_requests: [429, "Wait as long as Retry-After says."],
  too_many_streams: [503, "Close streams that nobody reads, or follow GET /v1/stream instead of many sessions one by one."],
  session_conflict: [409, "Take another id for another goal; this one belongs to the goal that was submitted first."],
  idempotency_conflict: [409, "Use a new Idempotency-Key for another request."],
  window_open: [409, "Ask again after Retry-After seconds: until then a late call can still arrive."],
  happened: [409, "The target says that it happened: reconcile it with outcome happened."],
  not_unknown: [409, "Its owner may still write the outcome. Read the session again; if its owner is gone, the next one settles it."],
  held: [409, "Use the release that wrote the record which this one does not know."],
  after_end: [409, "The session is over. Submit a goal of its own for what is left, or resume one that was handed off."],
  not_owed: [409, "Read the session: nothing of the kind is asked for now."],
  key_conflict: [409, "Read the checkpoint again: it was decided before, or what was shown is not what it asks for."],
  forbidden: [403, "Let another person decide: who asked may not, and with four eyes neither may who submitted."],
  suspended: [409, "The session is suspended. Read what it waits for at GET /v1/sessions/{id}."],
  refused: [409, "Read the session's events with void=true for what the ledger made of it."],
  stopping: [503, "The server is stopping; ask again in a moment."],
  internal: [500, "The same request may be sent again; what was acknowledged is on the ledger. The server's log has the cause."],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof entries;
export const problemCodes = Object.keys(entries) as ProblemCode[];
/** Status and next step of a code, for the reference. */
export function problemEntry(code: ProblemCode): { readonly status: number; readonly next: string } {
  const [status, next] = entries[code];
  return { status, next };
}

interface More {
  readonly headers?: Readonly<Record<string, string>>;
  /** Every single mistake, where there are several. */
  readonly faults?: readonly string[];
}

/** Thrown by a handler: the answer is this problem. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly more: More;

  constructor(code: ProblemCode, detail: string, more: More = {}) {
    super(detail);
    this.code = code;
    this.more = more;
  }
}

export interface ProblemDocument {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Codes of the web framework and what they are called here. */
const framework: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "payload_too_large", FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_JSON_BODY: "invalid_request", FST_ERR_CTP_EMPTY_JSON_BODY: "invalid_request",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid_request", FST_ERR_BAD_URL: "invalid_request", FST_ERR_ASYNC_CONSTRAINT: "invalid_request",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
};

/** The problem of anything that was thrown; null: nobody foresaw it. */
export function problemOf(error: unknown): Problem | LoopledgerError | null {
  if (error instanceof Problem || isLoopledgerError(error)) return error;
  const thrown = error as { readonly code?: unknown; readonly statusCode?: unknown; readonly message?: unknown };
  const known = typeof thrown.code === "string" ? framework[thrown.code] : undefined;
  if (known) return new Problem(known, String(thrown.message));
  // A body that is nested deeper than the stack can follow is the sender's mistake.
  if (error instanceof RangeError && /call stack/i.test(error.message)) return new Problem("invalid_request", "The body is nested too deeply.");
  return typeof thrown.statusCode === "number" && thrown.statusCode < 500 ? new Problem("invalid_request", String(thrown.message)) : null;
}

export function documentOf(problem: Problem | LoopledgerError): ProblemDocument {
  const { status, next } = problem instanceof Problem ? problemEntry(problem.code) : { status: statusOfError(problem), next: problem.next };
  const more = problem instanceof Problem ? problem.more : status === 503 ? { headers: { "retry-after": "2" } } : {};
  const body = {
    type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, code: problem.code, detail: problem.message, next,
    ...(more.faults && { faults: more.faults }),
  };
  return { status, headers: { "content-type": "application/problem+json; charset=utf-8", ...more.headers }, body: `${JSON.stringify(body)}\n` };
}

function statusOfError({ code, then }: LoopledgerError): number {
  if (code === "invalid_cursor") return 400;
  return then === "retry" ? 503 : 500;
}
