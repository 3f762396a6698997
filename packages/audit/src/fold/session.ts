/**
 * What the audit knows of one session after a prefix of its log. It is changed in place, record by record, and shares
 * nothing with the product's fold but the schemas of the events.
 */
import type { RecordOf } from "@loopledger/shared/core/events/envelope";
import type { Contract, Cycle, Disposition, Reason } from "@loopledger/shared/core/events/fields";
import type { Bounds, Goal } from "@loopledger/shared/core/events/goal";
import type { EventType } from "@loopledger/shared/core/events/index";
import type { Json } from "@loopledger/shared/core/json";
import { Purse } from "./purse.ts";
import { Tree } from "./tree.ts";

/** One entry of the log, as the dump shows it. `time` is the log's append time in milliseconds. */
export interface Entry {
  readonly partition: number;
  readonly offset: number;
  readonly time: number;
  readonly key: string | null;
  readonly text: string | null;
  /** Whether its signature holds; `off` where no keys are configured. */
  readonly verified: "yes" | "no" | "off";
}
/** A record under judgement: in which session, and where it stands. */
export interface Case<T extends EventType = EventType> {
  readonly session: Session;
  readonly record: { [K in T]: RecordOf<K> }[T];
  readonly entry: Entry;
}

export interface Dispatch {
  readonly eventId: string;
  readonly cycle: Cycle;
  readonly leaf: string;
  readonly iteration: number;
  readonly task: string;
  /** Runs begun: by the owner that kept it, by claims of others, by retries that came due. */
  runs: number;
  /** Takeovers in a row in which the former owner had written nothing. */
  fruitless: number;
  /** The number that the owner's next record would follow if it has not moved since it got the dispatch. */
  nAtStart: number;
  retries: number;
  lastError: string | null;
}
export type Derived = "dispatched" | "receipt" | "child_opened" | "child_refused" | "status" | "approval_requested";
export interface Owed {
  readonly what: Derived;
  readonly cause: string;
  readonly content: Json;
  /** Append time of the record that calls for it. */
  readonly since: number;
  /** The person who calls for a request; nobody where the policy does. */
  readonly by?: string;
}
export interface Owner {
  readonly id: string;
  readonly role: string;
  readonly serves: readonly Cycle[];
}
export interface Timer {
  readonly armedBy: string;
  readonly kind: "retry" | "check" | "approval";
  readonly dueAt: number;
  readonly checkpoint: string | null;
}
export interface Effect {
  readonly key: string;
  readonly tool: string;
  readonly argsDigest: string;
  readonly contract: Contract;
  readonly fences: boolean;
  readonly windowMs: number;
  readonly intent: string;
  readonly leaf: string;
  readonly ownerId: string;
  readonly epoch: number;
  readonly at: number;
  readonly seq: number;
  outcome: "confirmed" | "failed" | null;
  /** Who said so, and when. */
  settledBy: { readonly type: "tool_result" | "reconciled"; readonly at: number; readonly epoch: number } | null;
}
export interface Checkpoint {
  readonly id: string;
  readonly trigger: string;
  readonly digest: string;
  /** What was proposed; the arguments of a tool call beside their digest. */
  readonly action: Json;
  readonly requester: string;
  /** The person who called for it from outside. */
  readonly calledBy: string | null;
  /** The request's record; null while only an early answer is known. */
  readonly request: string | null;
  readonly since: number;
  readonly expiresAt: number | null;
  readonly answeredBy: string | null;
  decision: string | null;
  /** What may be done. */
  approved: Json;
  usedBy: string | null;
  decidedAt: number | null;
}
export interface End {
  readonly disposition: Disposition;
  readonly reason: Reason | null;
  readonly error: string | null;
  readonly at: number;
}
export interface Submission {
  readonly goal: Goal;
  readonly digest: string;
  readonly bounds: Bounds;
  readonly submitter: string;
  readonly parent: { readonly sessionId: string; readonly depth: number } | null;
  readonly at: number;
}
export interface Verdict {
  readonly eventId: string;
  readonly verdict: string;
  readonly evidence: Json;
  readonly next_steps: readonly Json[];
  readonly revision: string | null;
  readonly leaf: string;
  readonly actor: string;
  readonly seq: number;
}
export interface Child {
  readonly id: string;
  open: boolean;
  disposition: Disposition | null;
}

export class Session {
  readonly id: string;
  /** The partition in which it lies; null where nothing says so: then that of the first record that a reader took. */
  home: number | null;
  /** The ledger of its first accepted record. */
  ledgerId: string | null = null;
  submission: Submission | null = null;
  rules = 0;
  hold: { readonly detail: string; readonly since: number } | null = null;
  /** Of the last accepted record, its offset and its time. */
  seq = 0;
  offset: number | null = null;
  at: number | null = null;
  digest = "";
  epoch = 0;
  owner: Owner | null = null;
  n = 0;
  claimedAt: number | null = null;
  takeovers = 0;
  open: Dispatch | null = null;
  owed: Owed | null = null;
  report: Owed | null = null;
  request: Owed | null = null;
  timers: Timer[] = [];
  tree = new Tree(null);
  /** The check runs before any work, and has not spoken so far. */
  awaitsFirstCheck = false;
  iteration = 0;
  builtBy: string | null = null;
  lastBuiltSeq: number | null = null;
  verdict: Verdict | null = null;
  checkTries = 0;
  recheckedSinceBuild = false;
  readonly effects = new Map<string, Effect>();
  /** Keys of intents without an outcome, oldest first; a call that only reads is never among them. */
  readonly unsettled = new Set<string>();
  readonly steps = new Map<string, string>();
  /** By leaf: the calls that were confirmed since its last build, oldest first. */
  readonly done = new Map<string, { readonly tool: string; readonly argsDigest: string; readonly key: string }[]>();
  readonly pins = new Map<string, string>();
  readonly checkpoints = new Map<string, Checkpoint>();
  pending: string[] = [];
  pause: { readonly now: boolean; readonly since: number } | null = null;
  cancelled = false;
  /** A rejection or expiry that waits until no effect is unsettled. */
  endsAs: "approval_rejected" | "approval_expired" | null = null;
  suspension: { readonly reason: Reason; readonly error: string | null; readonly detail: Json; readonly since: number } | null = null;
  readonly gaps = new Set<string>();
  readonly purse = new Purse();
  failures: { build: string[]; check: string[] } = { build: [], check: [] };
  remaining: number | null = null;
  readonly children = new Map<string, Child>();
  end: End | null = null;
  receipt: Readonly<Record<string, Json>> | null = null;
  readonly voids: Record<string, number> = {};
  /** Every accepted record by its id; every id that was refused; causes that have a dispatch. */
  readonly accepted = new Map<string, EventType>();
  readonly refused = new Set<string>();
  /** Ids of accepted acts: an act counts once. */
  readonly acts = new Set<string>();
  readonly dispatchedFor = new Set<string>();
  /** Verdicts of PASS that an evidence gap kept from counting. */
  readonly blockedPasses = new Set<string>();

  constructor(id: string, home: number | null = null) {
    this.id = id;
    this.home = home;
  }
  get isUnknown(): boolean {
    return this.end?.reason === "incomplete_tool_turn";
  }
  /** The owner, where the open dispatch is one that it serves. */
  get holder(): Owner | null {
    return this.open && this.owner?.serves.includes(this.open.cycle) ? this.owner : null;
  }
  get waitsForRetry(): boolean {
    return this.timers.some((timer) => timer.kind === "retry");
  }
  /** Intents that a former owner left behind. */
  get leftBehind(): Effect[] {
    return [...this.unsettled].flatMap((key) => this.effects.get(key) ?? []).filter((effect) => effect.epoch < this.epoch);
  }
}
