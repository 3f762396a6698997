/**
 * The closed catalogue of errors. What is thrown across a port, shown by the command line or answered by the gateway has a
 * code from here; its entry says what the caller may do (`then`) and what a person does next (`next`).
 *
 * Refusals that a caller must expect are data and are returned; what is thrown here could not be done at all.
 *
 * E1. A code once released keeps its name and its meaning.
 * E2. `retry`: the same request may be sent again as it is. `stop`: nobody goes on before a person has acted.
 */
export type ErrorThen = "retry" | "stop";

interface CatalogueEntry {
  readonly then: ErrorThen;
  readonly next: string;
}

const entries = {
  ledger_unreachable: { then: "retry", next: "See that the ledger's service or folder is there and answers; the same request may be sent again." },
  ledger_full: { then: "retry", next: "Free space on the ledger's disk; what was not acknowledged may be sent again." },
  ledger_read_only: { then: "stop", next: "Make the data folder writable for this user, or name another one with --data." },
  ledger_corrupt: { then: "stop", next: "Stop every process on this ledger, keep a copy of its files, and restore the last good copy." },
  ledger_lost: { then: "stop", next: "Records that were acknowledged are gone. Restore the ledger from a copy that has them; do not go on with this one." },
  ledger_newer: { then: "stop", next: "This ledger was written by a newer release. Upgrade this one." },
  ledger_mismatch: { then: "stop", next: "This is another ledger than the one that was opened first. Stop the process and look which one is meant." },
  batch_too_large: { then: "stop", next: "Raise max.message.bytes of the ledger's topic, or put what is large into files: records carry references." },
  ledger_closed: { then: "stop", next: "The process is stopping; start it again." },
  views_unreachable: { then: "retry", next: "See that the store of the views is there and answers; views are rebuilt from the ledger." },
  views_newer: { then: "stop", next: "These views were written by a newer release. Upgrade this one, or delete the views: they are rebuilt from the ledger." },
  redis_evicts: { then: "stop", next: "Set its maxmemory-policy to noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, and in its configuration file." },
  registry_unreachable: { then: "retry", next: "See that the schema registry is there, answers and lets this user in; ids that were asked for before go on without it." },
  unknown_schema: { then: "retry", next: "The record waits. See that this is the registry that its writer used, and that it has not lost its schemas; then the same bytes are read again." },
  schema_unpublished: { then: "stop", next: "Publish this release's schemas before it runs: loopledger topics apply." },
  schema_incompatible: { then: "stop", next: "A released schema never changes: add a new version of the event with a lift, or name another topic prefix." },
  blobs_unreachable: { then: "retry", next: "See that the blob store is there, answers and has space; the same content may be written again." },
  address_refused: { then: "stop", next: "Listen on 127.0.0.1, ::1 or localhost: without tokens the API is for this machine only." },
  address_in_use: { then: "stop", next: "Name another port with --port, or stop the process that listens there." },
  invalid_cursor: { then: "stop", next: "Take the cursor from the page before, unchanged, or leave it out to start from the newest." },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof entries;
export const errorCodes = Object.keys(entries) as ErrorCode[];

export class LoopledgerError extends Error {
  readonly code: ErrorCode;
  /** What to do next, for the person who reads it. */
  readonly next: string;
  /** What the calling program may do. */
  readonly then: ErrorThen;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown; readonly next?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "LoopledgerError";
    this.code = code;
    this.next = options?.next ?? entries[code].next;
    this.then = entries[code].then;
  }
}

export function isLoopledgerError(error: unknown, code?: ErrorCode): error is LoopledgerError {
  return error instanceof LoopledgerError && (code === undefined || error.code === code);
}

/** The catalogue as rows. */
export function errorCatalogue(): readonly { readonly code: ErrorCode; readonly then: ErrorThen; readonly next: string }[] {
  return errorCodes.map((code) => ({ code, ...entries[code] }));
}

/** What was thrown, as a text for people; anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
