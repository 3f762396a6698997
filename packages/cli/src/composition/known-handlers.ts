/** Which sessions this process can run: those whose makers and checks it has all of. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Engine } from "@loopledger/shared/runtime";
import type { Project } from "../config/project.ts";
import { type Known, missingHandlers } from "../developing/goals.ts";
import { isAdHoc } from "./ad-hoc.ts";
import type { CrewOptions } from "./crew.ts";
import type { AdHoc } from "./project-handlers.ts";

export function knownHandlers({ handlers: { makers, checks } }: Project, adHoc?: AdHoc): Known {
  return { handlers: { makers: { ...makers, ...adHoc?.makers }, checks: { ...checks, ...adHoc?.checks } } };
}
export function canRun(known: Known, { submission }: Pick<SessionState, "submission">): boolean {
  return submission !== null && missingHandlers(submission.goal, known).length === 0;
}

/**
 * What a serving process claims: what it can run at once; and what nobody has taken for the length of a lease, so that a session whose
 * handlers are gone is said to wait for them. Never what a `run` brought its own commands for.
 */
export function servedBy(engine: Engine, project: Project): NonNullable<CrewOptions["serves"]> {
  const known = knownHandlers(project);
  const patienceMs = (state: SessionState): number => Math.max(0, (state.at ?? 0) + engine.leaseMs - engine.logClock.now());
  return {
    claims: (state) => !isAdHoc(state) && (canRun(known, state) || patienceMs(state) === 0),
    patienceMs: (state) => (state.open === null || isAdHoc(state) || canRun(known, state) ? null : patienceMs(state)),
  };
}
