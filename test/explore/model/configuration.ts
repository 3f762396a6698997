/** What a search runs: a goal and its program, processes with their roles, a target, people, and how many faults of each kind may happen. */
import type { Cycle } from "@loopledger/shared/core/events/fields";
import type { Bounds, Goal } from "@loopledger/shared/core/events/goal";
import { type Evolve, evolve } from "@loopledger/shared/core/session/evolve";

export type Role = "worker" | "checker" | "scheduler";
export interface ProcessPlan {
  readonly name: string;
  readonly roles: readonly Role[];
}
/** One call that a build makes. The target is the same for all of them; its contract is the call's. */
export interface CallPlan {
  /** Stands before the iteration in the key: `deploy` of the second iteration is `deploy:2`. */
  readonly name: string;
  readonly contract: "idempotent" | "lookup" | "unsafe";
}

/** How often each may happen. What is not named happens never. */
export interface Faults {
  /** A process dies and starts anew. */
  readonly crash?: number;
  /** It drops the session: a time-out, an error in a handler. */
  readonly drop?: number;
  /** A live owner is taken for dead. */
  readonly suspect?: number;
  /** A request reaches the log and stays under way all the same. */
  readonly duplicate?: number;
  /** A call's answer is lost; the call may arrive later or never. */
  readonly lost?: number;
  /** The target answers that nothing happened. */
  readonly failed?: number;
  /** Looking stays without an answer for all tries. */
  readonly silent?: number;
  readonly cycleFailed?: number;
  readonly retry?: number;
  readonly handBack?: number;
  readonly inconclusive?: number;
  /** The owner says that the check is not the one that was pinned. */
  readonly checkChanged?: number;
  readonly cancel?: number;
  readonly pause?: number;
  readonly pauseNow?: number;
  /** A person asks for a checkpoint. */
  readonly checkpoint?: number;
  /** A person re-opens what was handed off. */
  readonly reopen?: number;
  /** Somebody changes the workspace between the check and its record. */
  readonly edit?: number;
}
export type FaultKind = keyof Faults;

export interface Configuration {
  readonly name: string;
  readonly processes: readonly ProcessPlan[];
  readonly calls: readonly CallPlan[];
  /** The leaf that makes the calls, where the goal has a tree; without one every build makes them. */
  readonly callingLeaf?: string;
  /** A build may have its calls under way together. */
  readonly together?: boolean;
  /** The target refuses calls under a lower epoch than it has seen in a look. */
  readonly fences: boolean;
  /** The goal's check passes from this iteration on. */
  readonly iterations: number;
  /** The first check of a build asks for a goal of its own, in a child. */
  readonly opensChild?: true;
  readonly goal?: Partial<Goal>;
  readonly bounds?: Partial<Bounds>;
  readonly faults: Faults;
  /** What a person may answer to a checkpoint. */
  readonly answers?: readonly ("APPROVE" | "REJECT" | "RETRY" | "MODIFY" | "PAUSE")[];
  /** Answers may be under way before their question is on the ledger. */
  readonly earlyAnswers?: boolean;
  /** Seconds until an owner's question expires; left out: never. */
  readonly expiresSeconds?: number;
  /** A person looks also while an owner is at it; else only when its owner is dead or the session has failed on it. */
  readonly personInterferes?: boolean;
  /** How many iterations a person may add, one at a time. */
  readonly raises?: number;
  /** How many records a process may be behind when it acts. */
  readonly lagMax?: number;
  /** It can be searched whole within seconds: a part of every run of the tests. */
  readonly isSmall?: true;
  /** Most requests under way at a time. */
  readonly flightsMax?: number;
  readonly without?: Without;
}

/** What a search leaves out, to see what then goes wrong. */
export interface Without {
  readonly fold?: Evolve;
  /** Owners act on what they have sent, not on what they have read back. */
  readonly readBack?: true;
  /** A call starts whenever its process wakes up. */
  readonly deadline?: true;
  /** A verdict counts for the revision at its record, whatever it was when the check ran. */
  readonly freshness?: true;
  /** A look leaves no trace at the target: nothing older is refused. */
  readonly lookFences?: true;
  /** What refuses a repeated call is believed at once, while the call before it may be under way. */
  readonly refusalWaits?: true;
  /** Who looks says at once that nothing happened, before the window is over. */
  readonly waitsForWindow?: true;
}

export const foldOf = ({ without }: Configuration): Evolve => without?.fold ?? evolve;
export const servesOf = ({ roles }: ProcessPlan): Cycle[] => [
  ...(roles.includes("worker") ? (["build"] as const) : []), ...(roles.includes("checker") ? (["review"] as const) : []),
];

/** In seconds: how long a call may start after the record that allows it, how long it may be under way, and both with nothing to spare. */
export const timing = { startWithin: 1, callTakes: 1, window: 2, endless: 1_000_000 } as const;
