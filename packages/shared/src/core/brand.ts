/**
 * Branded primitives: a number that is an epoch cannot be passed where a seq is wanted.
 * They cost nothing at run time; `as` at a boundary is the only way in, so a boundary is easy to find.
 */
declare const brand: unique symbol;
export type Brand<T, B extends string> = T & { readonly [brand]: B };

/** Stable id of a session, `[A-Za-z0-9._:-]{1,128}`; also the partition key of all its records. */
export type SessionId = Brand<string, "SessionId">;
/** Unique id of a record: random for what an owner or a person writes, recomputable for what is derived. */
export type EventId = Brand<string, "EventId">;
/** Random per process start; never reused by a restarted process. */
export type OwnerId = Brand<string, "OwnerId">;
/** Dense per-session fencing token, +1 for each accepted claim; 0 before the first. */
export type Epoch = Brand<number, "Epoch">;
/** Dense per-session number of an accepted record, from 1; 0 before the first. The client's cursor. */
export type Seq = Brand<number, "Seq">;
/** Position within a partition of the ledger; strictly increasing, not dense. */
export type Offset = Brand<number, "Offset">;
/** `sha256:` and 64 hex digits. */
export type Digest = Brand<string, "Digest">;
/** Milliseconds since 1970 as the log stamped them at append; the only clock that the fold knows. */
export type LogTime = Brand<number, "LogTime">;
/** SHA-256 of a text as 64 hex digits; handed in, because the core knows no crypto library. */
export type Sha256 = (text: string) => string;
