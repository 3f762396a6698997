/** Carries one session, and the children that it opens, until it has ended or waits for somebody. */
import type { SessionId } from "@loopledger/shared/core/brand";
import { nextDerived } from "@loopledger/shared/core/session/derive";
import { endsUnknown } from "@loopledger/shared/core/session/endings";
import { type SessionState, holderOf } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import { type Engine, type Liveness, nextChange } from "@loopledger/shared/runtime";
import type { RunningCrew } from "@loopledger/composition/crew/crew";
import { refuseLostLedger } from "@loopledger/composition/engine/lost-ledger";
import { CliError } from "../errors.ts";
import { exitCodes, isAtRest } from "../exit-codes.ts";

/** Nothing happens to the session before somebody acts, and everything that its end calls for is written. */
export function isSettled(state: SessionState): boolean {
  if (state.end && !endsUnknown(state.end)) return !state.statusOwed;
  return isAtRest(standingOf(state)) && nextDerived(state) === null;
}

/** The live process that holds the session; null where nobody else does. */
export async function heldBy(engine: Engine, liveness: Liveness, state: SessionState): Promise<number | null> {
  const holder = holderOf(state);
  if (!holder || holder.id === engine.ownerId || state.end) return null;
  return (await liveness.look(holder)) === "live" ? holder.host.pid : null;
}
export function sessionHeld(sessionId: string, pid: number): CliError {
  return new CliError("session_held", `The session ${sessionId} is held by another live process (${pid}).`, {
    exitCode: exitCodes.held, next: "Follow it with --attach, or wait until that process lets go; nothing was started here.",
  });
}

/** How long a settled session that is still being let go is given between two looks, in ms. */
const lookMs = 20;
const longestMs = 1_000;

export interface Driving {
  readonly engine: Engine;
  readonly crew: RunningCrew;
  readonly family: Family;
  readonly stopping: AbortSignal;
}

/** Throws `session_held` where another process turns out to be quicker. */
export async function driveSession(sessionId: SessionId, { engine, crew, family, stopping }: Driving): Promise<SessionState> {
  const stopListening = engine.folds.listen((change) => family.adopt(change.state), "family");
  family.adopt(await engine.folds.open(sessionId));
  crew.start();
  try {
    for (;;) {
      const state = await engine.folds.open(sessionId);
      const settled = isSettled(state);
      if (stopping.aborted) return state;
      // What is told as done must stand on a ledger that is still there: the folder may have gone a moment ago.
      await refuseLostLedger(engine);
      if (settled && !crew.offers.carries(sessionId)) return state;
      const pid = await heldBy(engine, crew.liveness, state);
      if (pid !== null) throw sessionHeld(sessionId, pid);
      await nextChange(engine, sessionId, { maxMs: settled ? lookMs : longestMs, signal: stopping });
    }
  } finally {
    stopListening();
  }
}

/** The session and its children: what this process follows and may claim. */
export class Family {
  readonly #members = new Set<SessionId>();
  #open: (sessionId: SessionId) => void = () => undefined;

  add(sessionId: SessionId): void {
    this.#members.add(sessionId);
  }
  has(sessionId: SessionId): boolean {
    return this.#members.has(sessionId);
  }
  /** What is done with a child that is met for the first time. */
  whenMet(open: (sessionId: SessionId) => void): void {
    this.#open = open;
  }
  adopt(state: SessionState): void {
    for (const child of Object.values(state.children)) {
      if (this.#members.has(child.id)) continue;
      this.#members.add(child.id);
      this.#open(child.id);
    }
  }
}
