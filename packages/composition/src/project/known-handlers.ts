/** Which sessions this process can run: those whose makers, checks and guards it has all of. */
import type { Goal } from "@loopledger/shared/core/events/goal";
import { handlersNamed, isOfRun } from "@loopledger/shared/core/session/handlers-named";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Serving } from "../crew/crew.ts";
import type { AdHoc } from "./handlers.ts";
import type { Project } from "./project-shape.ts";

export function knownHandlers({ handlers: { makers, checks, tools } }: Project, adHoc?: AdHoc): Known {
  return { handlers: { makers: { ...makers, ...adHoc?.makers }, checks: { ...checks, ...adHoc?.checks }, tools } };
}
export function canRun(known: Known, { submission }: Pick<SessionState, "submission">): boolean {
  return submission !== null && missingHandlers(submission.goal, known).length === 0;
}

/**
 * What a serving process claims: what it can run at once; and what nobody else takes, so that a session whose handlers are gone is said
 * to wait for them. Never what a `run` brought its own commands for.
 */
export function servedBy(project: Project): Serving {
  const known = knownHandlers(project);
  return {
    claims: (state) => !isOfRun(state) && canRun(known, state),
    leaves: (state) => !isOfRun(state) && !canRun(known, state),
    handlers: { makers: Object.keys(known.handlers.makers), checks: Object.keys(known.handlers.checks), tools: Object.keys(known.handlers.tools), gates: [] },
  };
}

/** What is there, by name. */
export interface Known {
  readonly handlers: { readonly makers: object; readonly checks: object; readonly tools: object };
}

/** Names of handlers in a goal that the config does not have. */
export function missingHandlers(goal: Goal, { handlers }: Known): string[] {
  const { makers, checks, tools, gates } = handlersNamed(goal);
  const known = (kind: "makers" | "checks" | "tools"): string => Object.keys(handlers[kind]).join(", ") || "none";
  return [
    ...makers.filter((name) => !Object.hasOwn(handlers.makers, name)).map((name) => `there is no maker ${name} in the config (makers: ${known("makers")})`),
    ...checks.filter((name) => !Object.hasOwn(handlers.checks, name)).map((name) => `there is no check ${name} in the config (checks: ${known("checks")})`),
    ...tools.filter((name) => !Object.hasOwn(handlers.tools, name)).map((name) => `policy.approvals asks before ${name}, and there is no such tool in the config (tools: ${known("tools")})`),
    ...gates.map((name) => `policy.gates names ${name}, and no gates are run here: leave it out, or ask a person with policy.approvals`),
  ];
}
