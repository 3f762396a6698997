/**
 * What the fold knows of one session. Plain JSON, never changed in place.
 *
 * It holds what decides about later records and what status shows; it does not hold the history.
 * Its size grows only with a session's distinct effect keys, acts and checkpoints.
 */
import type { Digest, Epoch, EventId, LogTime, Offset, OwnerId, Seq, SessionId } from "../brand.ts";
import type { Settled } from "../effects/handling.ts";
import type { CheckpointTrigger } from "../events/approval-requested.ts";
import type { HumanDecision } from "../events/approval-decided.ts";
import type { ClaimHost } from "../events/claimed.ts";
import type { Actor } from "../events/envelope.ts";
import type { Amounts, CheckVerdict, Contract, Cycle, Disposition, Reason } from "../events/fields.ts";
import type { Bounds, Goal } from "../events/goal.ts";
import type { NextStep } from "../events/check.ts";
import type { Json } from "../json.ts";
import { type PMap, emptyMap } from "./persistent-map.ts";

/** Why a record changes nothing. A closed list. */
export const voidReasons = [
  "stale_epoch", "rival", "duplicate", "gap", "malformed", "forbidden", "not_owed", "wrong_cycle", "not_armed",
  "suspended", "after_end", "key_conflict",
] as const;
export type VoidReason = (typeof voidReasons)[number];

export interface Owed {
  readonly cause: EventId;
  readonly what: "dispatched" | "receipt" | "status" | "approval_requested" | "child_opened" | "child_refused";
  /** The id that its record must carry: hash of session, cause and what. */
  readonly eventId: EventId;
  readonly content: Json;
  /** Of a request: the person who called for it; nobody where the policy does. */
  readonly by?: string;
}
export interface OpenDispatch {
  readonly eventId: EventId;
  readonly seq: Seq;
  readonly cycle: Cycle;
  readonly leaf: string;
  readonly iteration: number;
  readonly task: string;
  /** Runs begun, as far as the ledger tells: the owner at its dispatch, foreign claims, retries that came due. */
  readonly attempts: number;
  /** Accepted claims by another process in which the former owner had advanced nothing. */
  readonly idleTakeovers: number;
  /** The owner's last n when the dispatch, or the last claim of it, was accepted: beyond it the owner has advanced. */
  readonly nBefore: number;
  readonly claims: number;
  readonly retries: number;
  readonly lastError: string | null;
  readonly since: LogTime;
}
export interface Owner {
  readonly id: OwnerId;
  readonly role: "worker" | "checker";
  readonly serves: readonly Cycle[];
  readonly leaseMs: number;
  readonly host: ClaimHost;
  readonly claimedAt: LogTime;
  /** Append time of the last accepted record of this tenure. */
  readonly lastAt: LogTime;
}
export interface Effect {
  readonly key: string;
  readonly tool: string;
  readonly contract: Contract;
  readonly argsDigest: Digest;
  readonly args: Json;
  readonly fences: boolean;
  readonly mutates: boolean;
  readonly callWindowSeconds: number;
  readonly intent: EventId;
  readonly writer: OwnerId;
  readonly epoch: Epoch;
  readonly intentAt: LogTime;
  readonly leaf: string;
  readonly iteration: number;
  readonly settled: "confirmed" | "failed" | null;
  readonly result: Json;
  readonly seq: Seq;
}
export interface LeafNode {
  readonly id: string;
  readonly title: string;
  readonly kind: string | null;
  /** null: an inner node without a check of its own, verified with its children. */
  readonly check: string | null;
  readonly after: readonly string[];
  readonly children: readonly string[];
}
export type LeafStatus = "open" | "unverified" | "verified" | "needs-rework";
export interface LeafState {
  readonly status: LeafStatus;
  /** The next build's task. */
  readonly task: string;
  readonly seq: Seq;
  readonly everBuilt: boolean;
}
/** What a leaf has settled since its last accepted build. */
export interface LeafWork {
  readonly settled: readonly Settled[];
  readonly steps: Readonly<Record<string, { readonly inputDigest: Digest; readonly result: Json }>>;
}
export interface Timer {
  readonly armedBy: EventId;
  readonly kind: "retry" | "check" | "approval";
  readonly dueAt: LogTime;
  readonly checkpoint: string | null;
}
export interface Checkpoint {
  readonly id: string;
  readonly trigger: CheckpointTrigger;
  readonly action: Json;
  readonly digest: Digest;
  readonly requestedBy: string;
  /** The person who called for it from outside; null where the policy or an owner did. */
  readonly calledBy: string | null;
  readonly request: EventId | null;
  /** Who answered before the request came; null once it is there. */
  readonly answeredBy: string | null;
  readonly seq: Seq;
  readonly since: LogTime;
  readonly expiresAt: LogTime | null;
  readonly decision: HumanDecision | "EXPIRED" | null;
  /** What may be done: the proposed action, or the one that a person put in its place. */
  readonly approvedAction: Json;
  readonly servedKey: string | null;
}
export interface End {
  readonly disposition: Extract<Disposition, "done" | "handed_off" | "failed" | "cancelled">;
  readonly reason: Reason | null;
  readonly error: string | null;
  readonly seq: Seq;
  readonly eventId: EventId;
  readonly at: LogTime;
}
export interface Suspension {
  readonly reason: Extract<Reason, "handler_missing" | "check_changed" | "evidence_missing" | "budget_exhausted">;
  readonly error: string | null;
  readonly detail: Json;
  readonly seq: Seq;
  readonly since: LogTime;
}
export interface LastCheck {
  readonly eventId: EventId;
  readonly verdict: CheckVerdict;
  readonly evidence: Json;
  readonly next_steps: readonly NextStep[];
  readonly revision: string | null;
  readonly leaf: string;
  readonly iteration: number;
  readonly seq: Seq;
}
export interface LastBuilt {
  readonly summary: string;
  readonly revision: string | null;
  readonly actor: string;
  readonly leaf: string;
  readonly iteration: number;
  readonly artifacts: readonly Json[];
  readonly seq: Seq;
}
export interface Receipt {
  readonly sessionId: SessionId;
  readonly goalDigest: Digest;
  readonly check: { readonly name: string; readonly digest: Digest };
  readonly pinned: readonly string[];
  readonly revision: string | null;
  readonly evidenceDigest: Digest;
  readonly finalCheckSeq: Seq;
  readonly ledgerDigest: string;
  readonly seq: Seq;
}
export interface Spending {
  /** Iterations charged by accepted build dispatches. */
  readonly iterations: number;
  readonly costUsd: number;
  readonly tokens: number;
  /** Running time in ms: from a claim, or a dispatch to an owner, to the last record of that epoch. */
  readonly runningMs: number;
  /** Since when the running time counts; null while nobody runs. */
  readonly runningSince: LogTime | null;
  readonly reservations: Readonly<Record<string, { readonly amounts: Amounts; readonly epoch: Epoch }>>;
  readonly raised: { readonly iterations: number; readonly costUsd: number; readonly tokens: number; readonly wallSeconds: number };
}
export interface Failures {
  /** Fingerprints of the last failures, newest last; what the breaker looks at. */
  readonly build: readonly string[];
  readonly check: readonly string[];
  readonly remaining: number | null;
  readonly last: string | null;
  /** What the last failure of a build said of itself. */
  readonly message?: string;
}
export interface Child {
  readonly id: SessionId;
  readonly open: boolean;
  readonly disposition: Disposition | null;
}
export interface Submission {
  readonly goal: Goal;
  readonly digest: Digest;
  readonly bounds: Bounds;
  readonly submitter: Actor;
  readonly eventId: EventId;
  readonly parent: { readonly sessionId: SessionId; readonly depth: number } | null;
  /** Children before their parents; the goal itself is last and is called `goal`. */
  readonly plan: readonly LeafNode[];
}

export interface SessionState {
  readonly sessionId: SessionId;
  readonly submission: Submission | null;
  readonly rules: number;
  readonly hold: { readonly detail: string; readonly since: LogTime } | null;
  readonly seq: Seq;
  /** Running digest over all accepted records. */
  readonly digest: string;
  readonly createdAt: LogTime | null;
  readonly at: LogTime | null;
  readonly position: { readonly partition: number; readonly offset: Offset } | null;
  /** The ledger of its first accepted record; a record of another one, a recreated topic's say, changes nothing here. */
  readonly ledgerId: string | null;
  readonly epoch: Epoch;
  readonly owner: Owner | null;
  readonly n: number;
  readonly lastClaimAt: LogTime | null;
  readonly takeovers: number;
  readonly owed: Owed | null;
  readonly statusOwed: Owed | null;
  readonly requestOwed: Owed | null;
  readonly open: OpenDispatch | null;
  readonly failureFirst: "owed" | "over";
  readonly leaves: Readonly<Record<string, LeafState>>;
  /** The last build's iteration. */
  readonly iteration: number;
  readonly lastBuilt: LastBuilt | null;
  readonly lastCheck: LastCheck | null;
  readonly checkTries: number;
  readonly recheckedSinceBuild: boolean;
  readonly work: Readonly<Record<string, LeafWork>>;
  readonly effects: PMap<Effect>;
  /** Keys of intents without an outcome, oldest first. */
  readonly unsettled: readonly string[];
  readonly pins: Readonly<Record<string, { readonly digest: Digest; readonly pinned: readonly string[] }>>;
  readonly timers: readonly Timer[];
  readonly checkpoints: PMap<Checkpoint>;
  /** Ids of checkpoints that hold the session back. */
  readonly pending: readonly string[];
  readonly acts: PMap<true>;
  /** The ends of the ids of all other accepted records: an id counts once. */
  readonly ids: PMap<true>;
  readonly pause: { readonly now: boolean; readonly seq: Seq; readonly since: LogTime } | null;
  readonly cancel: { readonly seq: Seq; readonly since: LogTime } | null;
  /** A rejection or expiry that waits until no effect is unsettled. */
  readonly pendingEnd: Extract<Reason, "approval_rejected" | "approval_expired"> | null;
  readonly suspension: Suspension | null;
  readonly guidance: readonly string[];
  readonly gaps: Readonly<Record<string, string>>;
  readonly spending: Spending;
  readonly failures: Failures;
  readonly children: Readonly<Record<string, Child>>;
  readonly end: End | null;
  readonly receipt: Receipt | null;
  readonly void: Readonly<Partial<Record<VoidReason, number>>>;
}

export const rootLeaf = "goal";
/** The newest acceptance rules that this release knows. */
export const rulesKnown = 1;

export function emptySession(sessionId: SessionId): SessionState {
  return {
    sessionId, submission: null, rules: 0, hold: null, seq: 0 as Seq, digest: "", createdAt: null, at: null, position: null, ledgerId: null,
    epoch: 0 as Epoch, owner: null, n: 0, lastClaimAt: null, takeovers: 0, owed: null, statusOwed: null, requestOwed: null,
    open: null, failureFirst: "over", leaves: {}, iteration: 0, lastBuilt: null, lastCheck: null, checkTries: 0,
    recheckedSinceBuild: false, work: {}, effects: emptyMap, unsettled: [], pins: {}, timers: [], checkpoints: emptyMap, pending: [],
    acts: emptyMap, ids: emptyMap, pause: null, cancel: null, pendingEnd: null, suspension: null, guidance: [], gaps: {},
    spending: {
      iterations: 0, costUsd: 0, tokens: 0, runningMs: 0, runningSince: null, reservations: {},
      raised: { iterations: 0, costUsd: 0, tokens: 0, wallSeconds: 0 },
    },
    failures: { build: [], check: [], remaining: null, last: null }, children: {}, end: null, receipt: null, void: {},
  };
}

/** The process that the fold names holder of the open dispatch: its `serves` covers the cycle. */
export function holderOf(state: SessionState): Owner | null {
  return state.open && state.owner?.serves.includes(state.open.cycle) ? state.owner : null;
}
