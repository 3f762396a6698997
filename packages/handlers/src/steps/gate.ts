/**
 * Stands between a running handler and its claim's step API: it lets calls through while the run is open, and remembers
 * whether one of them told the handler to leave.
 */
import type { StepAnswer, StepApi } from "@loopledger/shared/core/effects/handling";

export interface StepGate {
  readonly api: StepApi;
  /** `suspended` once the session waits for a person (423, 424, a used-up budget, a recorded result that is gone), `stopped` after 409 stale_owner; else null. */
  left(): "suspended" | "stopped" | null;
  /** From now on every call is answered 409 stale_owner. */
  close(): void;
}

const staleOwner = {
  ok: false, status: 409, code: "stale_owner", detail: "this run is over or its session has another owner",
} as const;
const noTools = {
  ok: false, status: 404, code: "unknown_tool", detail: "a check has no tools",
} as const;

/** After these the session waits for a person, and so does the step. */
const leaves: ReadonlySet<string> = new Set(["approval_pending", "retry_pending", "incomplete_tool_turn", "budget_exhausted", "evidence_missing"]);

export function stepGate(steps: StepApi, options: { readonly tools: boolean }): StepGate {
  let open = true;
  let left: "suspended" | "stopped" | null = null;
  async function through<T>(call: () => Promise<StepAnswer<T>>): Promise<StepAnswer<T>> {
    if (!open) return staleOwner;
    const answer = await call();
    if (!answer.ok && answer.code === "stale_owner") left = "stopped";
    if (!answer.ok && leaves.has(answer.code)) left ??= "suspended";
    return answer;
  }
  return {
    api: {
      tool: async (name, args, key) => (options.tools ? through(() => steps.tool(name, args, key)) : noTools),
      step: (name, input, result) => through(() => steps.step(name, input, result)),
      observe: (observation) => through(() => steps.observe(observation)),
      retrieval: (query, items) => through(() => steps.retrieval(query, items)),
      usage: (usage) => through(() => steps.usage(usage)),
      model: (call) => through(() => steps.model(call)),
      reserve: (amounts) => through(() => steps.reserve(amounts)),
      budget: () => through(() => steps.budget()),
      context: (tokensMax) => through(() => steps.context(tokensMax)),
    },
    left: () => left,
    close: () => {
      open = false;
    },
  };
}
