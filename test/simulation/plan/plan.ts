/**
 * A run as data: who takes part, what they are asked for, what goes wrong and when. The same plan gives the same ledger,
 * byte for byte, so a fault can be taken out of it and the rest tried again.
 */
import type { Goal } from "@loopledger/shared/core/events/goal";
import type { Reason } from "@loopledger/shared/core/events/fields";
import type { FailpointName } from "@loopledger/shared/runtime";

export type Role = "scheduler" | "worker" | "checker" | "projector";

/** One program that is started, and started again after a crash, on a machine. */
export interface MachinePlan {
  readonly name: string;
  /** The host that it runs on; processes of one host see each other die. */
  readonly host: string;
  readonly roles: readonly Role[];
  /** One way to the ledger, in ms. */
  readonly delayMs: number;
  /** From an append to its delivery here, in ms. */
  readonly lagMs: number;
  /** Largest piece of the log that is delivered at once. */
  readonly chunkMax: number;
  /** Its projector folds by itself. */
  readonly apart: boolean;
  /** How wrong its wall clock is from the start, in ms. */
  readonly skewMs: number;
  /** Most sessions that it carries at a time (default 50). */
  readonly sessionsMax?: number;
}

/**
 * Each way in which an effect is promised: `read` changes nothing; `idempotent` keeps results by key; `fenced` and `windowed`
 * can be asked, the first refuses lower epochs than it has seen; the `unsafe` ones can be asked by a person only.
 */
export const doors = ["read", "idempotent", "fenced", "windowed", "unsafe", "unsafe-fenced"] as const;
export type Door = (typeof doors)[number];

export interface ActionPlan {
  /** What is meant, whatever words a run puts it in: one application at most. Only the target sees it. */
  readonly identity: string;
  readonly door: Door;
  /** How long the target takes, in ms. */
  readonly ms: number;
  /** The target always answers that it did not happen. */
  readonly fails: boolean;
  /** Its result is too large for a record. */
  readonly large?: boolean;
}
/** How a maker words the call of one intended action on a re-run. */
export type Wording =
  /** The same arguments every time. */
  | "stable"
  /** Anew every time, unless it was told of the settled one. */
  | "careful"
  /** Anew every time. */
  | "forgetful"
  /** The same arguments, under a key of its own. */
  | "keyed";

export interface IterationPlan {
  readonly leaf: string;
  readonly actions: readonly ActionPlan[];
  /** All calls at once instead of one after the other. */
  readonly together: boolean;
  /** Durable steps beside the calls. */
  readonly steps: number;
  readonly makerMs: number;
  /** What is reserved before the work and spent by half, in USD; 0 = nothing. */
  readonly costUsd: number;
  /** Runs of this iteration that fail for a moment, after this many actions. */
  readonly transient: { readonly runs: number; readonly after: number };
  /** null: it is built. Else the run fails for good with these words. */
  readonly fails: string | null;
}
export interface ReviewPlan {
  readonly verdict: "PASS" | "FAIL" | "INCONCLUSIVE";
  readonly nextSteps: readonly string[];
  /** Runs that could not judge before the verdict comes. */
  readonly inconclusiveRuns: number;
  /** Runs that find something to do before the verdict comes. */
  readonly redRuns: number;
  /** Runs during which somebody changes the workspace. */
  readonly movedRuns: number;
  readonly cannotStart: boolean;
  readonly ms: number;
}

/** `advance`: a program of their own takes the session one cycle further, beside all others. */
export type PersonAct = "pause" | "pause-now" | "cancel" | "guidance" | "checkpoint" | "advance";
export interface SessionPlan {
  readonly id: string;
  readonly goal: Goal;
  /** When it is submitted, in ms from the start; twice where somebody sends it again, with another goal where they mix it up. */
  readonly submittedAt: readonly number[];
  readonly mixedUpAt: number | null;
  readonly wording: Wording;
  /** The maker is an effect itself. */
  readonly external: boolean;
  /** The n-th build is iteration n + 1. */
  readonly iterations: readonly IterationPlan[];
  /** By `leaf/iteration`. */
  readonly reviews: Readonly<Record<string, ReviewPlan>>;
  readonly acts: readonly { readonly at: number; readonly kind: PersonAct }[];
  /** How a person answers a protected call; in silence it expires. */
  readonly protected: "APPROVE" | "REJECT" | "MODIFY" | "silence";
  /** The second of the people rejects every protected call. */
  readonly contradicts?: boolean;
  /** Asked about a call that was worded anew, a person points once to the settled one before they reject. */
  readonly points: boolean;
  /** A person answers PAUSE first. */
  readonly hesitates: boolean;
  /** What a person adds to a used-up budget; 0 = nothing, it stays so. */
  readonly raise: number;
  readonly expected: Expected;
}
export interface Expected {
  readonly disposition: "done" | "handed_off" | "waiting";
  readonly reason: Reason | null;
  /** How often each intended action that must not be repeated is applied when the session ends as expected. */
  readonly applied: Readonly<Record<string, 0 | 1>>;
}

interface Window { readonly at: number; readonly forMs: number }
interface OnMachine { readonly machine: string }
export type Fault =
  | ({ readonly kind: "drop" | "duplicate" | "lose-ack" | "stale-read" | "tear" } & OnMachine & Window)
  /** Every request and answer, and the news of the log, take this much longer. */
  | ({ readonly kind: "slow-ledger" | "slow-news"; readonly ms: number } & OnMachine & Window)
  | ({ readonly kind: "pause" } & OnMachine & Window)
  /** It is stopped in order, and started again. */
  | ({ readonly kind: "leave" } & OnMachine & { readonly at: number; readonly downMs: number })
  | ({ readonly kind: "crash" } & OnMachine & { readonly at: number; readonly downMs: number })
  | ({ readonly kind: "pause-at"; readonly point: FailpointName; readonly nth: number; readonly forMs: number } & OnMachine)
  | ({ readonly kind: "crash-at"; readonly point: FailpointName; readonly nth: number; readonly downMs: number } & OnMachine)
  | ({ readonly kind: "lose-lease" } & OnMachine & { readonly at: number })
  | ({ readonly kind: "two-holders" | "no-lease-service" | "views-drop" | "views-lose-ack" | "views-stale" } & OnMachine & Window)
  | { readonly kind: "forget-leases" | "forget-views"; readonly at: number }
  /** Somebody changes the check itself. */
  | { readonly kind: "check-changes"; readonly session: string; readonly at: number }
  | ({ readonly kind: "clock"; readonly at: number; readonly ms: number } & OnMachine)
  /** The n-th call of a session to the target. */
  | { readonly kind: "call"; readonly session: string; readonly nth: number; readonly how: CallTrouble; readonly ms: number }
  /** The n-th look of a session and those after it. */
  | { readonly kind: "look"; readonly session: string; readonly nth: number; readonly times: number; readonly how: "silent" | "pending" };
export type CallTrouble = "request-lost" | "answer-lost" | "request-late" | "answer-late" | "request-twice";

export interface Plan {
  readonly seed: number;
  readonly machines: readonly MachinePlan[];
  readonly sessions: readonly SessionPlan[];
  readonly faults: readonly Fault[];
  /** How long each of the people thinks before an answer, in ms; the first also submits and acts. */
  readonly peopleMs: readonly number[];
}

/** Limits of the simulated world, in ms unless named otherwise. */
export const world = {
  leaseMs: 1_000,
  silenceMs: 3_000,
  /** A live owner's longest step where no lease service answers. */
  stepLimitMs: 4_000,
  callTimeoutSeconds: 1,
  callWindowSeconds: 4,
  externalMakerSeconds: 4,
  ledgerTimeoutMs: 1_000,
  /** Faults are over by then. */
  calmAt: 20_000,
  /** From there to the end, at most. */
  patienceMs: 240_000,
} as const;
