/** The rows of the audit: the id of each thing that must hold, and what it says in a line. */
export const rows = {
  S1: "an accepted record's key is its session id",
  S2: "all accepted records of a session lie in one partition, the home named by its first",
  S3: "accepted records have dense seq; owner-written ones dense n within their epoch",
  S4: "offsets strictly increase within a partition",
  S5: "no accepted record of an unknown type or version; its session waits for a release that reads it",
  S6: "a released schema never changes, and releases of the fold agree up to the hold of the older one",
  A1: "what was acknowledged stands where it was acknowledged, with the same digest",
  A3: "at most one accepted record an eventId",
  F1: "accepted claims have epochs 1, 2, … in log order, one owner an epoch",
  F3: "an accepted owner record carries epoch and owner of the last accepted claim before it",
  F4: "no accepted record's cause is void",
  F5: "an owner record names the dispatch that is open, and its type fits the cycle",
  F6: "an owner id belongs to one process start; equal ids have equal content",
  D1: "an accepted dispatch has a cause before it, in its session, that calls for one",
  D2: "a cause has at most one accepted dispatch",
  D3: "after the faults end, what calls for a dispatch gets one in time",
  D4: "cycle, leaf, iteration and task of a dispatch follow from its cause",
  D5: "a derived record has the id that its cause gives it, and the content that is owed",
  D6: "never two open dispatches",
  D7: "a timer fires once, while it is armed, and not before it is due",
  E1: "an applied effect has an accepted intent before it, with the same key and arguments",
  E2: "at most one application a key; exactly one where the run is expected to end done",
  E3: "a recorded outcome is what the target says",
  E4: "after a takeover nothing is done before an unsettled intent is settled",
  E5: "a default key is recomputable from its record",
  E6: "epochs that a fencing target obeys never go down for a session",
  E7: "a reconciliation cites a look that the target saw, or a person",
  E8: "an unsafe target sees no second call for a key that may have happened",
  E9: "an intended action is applied at most once, however its call is worded",
  E10: "did_not_happen is concluded behind a fence, or after the call window",
  E11: "no cycle and no session ends over an unsettled intent",
  E12: "a person settles an effect only while it is unknown, naming intent and epoch",
  E13: "no intent in a review",
  E14: "nobody confirms late what was settled as not happened",
  P1: "an effect that needs approval has it before its intent, for the same action, in time",
  P2: "one decision a request, one key an approval",
  P3: "who approves may, and did not ask for it",
  P4: "what was rejected or has expired is not applied",
  C1: "a receipt rests on an accepted PASS for the state that it names",
  C2: "maker and checker are different principals, and a check calls no tool",
  C3: "a contradictory verdict hands off and dispatches nothing",
  C4: "no PASS counts over an open evidence gap",
  T1: "a view is the fold of the ledger up to its cursor, byte for byte",
  T2: "every replay gives the same verdicts",
  T3: "cursors of views never go down within a ledger",
  T6: "a client's stream is the session's: no gap, no repeat, in order",
  B1: "what is reserved and spent never passes a limit",
  B2: "iterations and equal steps are bounded",
  B3: "children are bounded in depth, width, total and budget",
  B4: "after exhaustion nothing new begins",
  B5: "tries are bounded, and none repeats a deterministic error",
  B6: "reservations of a superseded epoch count as spent",
  X1: "one end between re-openings, and after it only what may follow it",
  X2: "after the faults end, each session has ended or waits for a named thing",
  H1: "no canary secret in ledger, dead letters, views, streams, logs",
  H2: "records are within the size limit, and blobs resolve with their digests",
  H3: "a record's type is allowed for its actor",
  H4: "a malformed goal record has exactly one dead letter with its source position",
  H5: "no text becomes a command",
} as const;

export type RowId = keyof typeof rows;
export const rowIds = Object.keys(rows) as RowId[];

export const voidReasons = [
  "stale_epoch", "rival", "duplicate", "gap", "malformed", "forbidden", "not_owed", "wrong_cycle", "not_armed", "suspended", "after_end",
  "key_conflict",
] as const;
export type VoidReason = (typeof voidReasons)[number];

/** Why a record changes nothing: the reason that readers show, and the row that it would break if it counted. */
export interface Refusal {
  readonly reason: VoidReason;
  readonly row: RowId;
  readonly detail: string;
}
export function refuse(reason: VoidReason, row: RowId, detail: string): Refusal {
  return { reason, row, detail };
}
