/** Refusals of the step protocol as problem documents: each code has its status and what to do next. */
export const problemNext = {
  bad_request: "mend the request as the detail says; the same request again is refused again",
  unauthorized: "send Authorization: Bearer with the token that this run got in LOOPLEDGER_STEP_TOKEN",
  forbidden: "call the address in LOOPLEDGER_STEP_URL from a program, not from a web page",
  not_found: "see the routes of the step protocol",
  unknown_tool: "use one of the tools that the operator has registered; a check has none",
  method_not_allowed: "use the method that the Allow header names",
  stale_owner: "stop: this run is over or its session has another owner",
  key_conflict: "use another key, or the arguments that this key was first used with",
  budget_exhausted: "leave: the session waits until a person raises its budget",
  too_large: "send at most 10 MiB; hand large content over as a file of the workspace",
  approval_pending: "leave: after the decision this step runs again and the same call returns its result",
  retry_pending: "leave: the target asked for time; when it is over this step runs again and makes the same call",
  incomplete_tool_turn: "leave: a person settles what became of the call, then the session goes on",
  evidence_missing: "leave: a recorded result is missing from the blob store; once it is back there and the session is resumed, this step runs again",
  internal: "leave with a failure; the engine runs this step again",
} as const;
export type ProblemCode = keyof typeof problemNext;

export interface Problem {
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
}

export function problemBody({ status, code, detail }: Problem): string {
  return JSON.stringify({ type: "about:blank", title: code.replaceAll("_", " "), status, code, detail, next: problemNext[code] });
}
