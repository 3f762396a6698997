/** Checks that say what the plan says, of a workspace that may move under them. */
import type { CheckRun, CheckTask } from "@loopledger/shared/core/effects/handling";
import type { Digest } from "@loopledger/shared/core/brand";
import type { Check, Handlers } from "@loopledger/shared/ports";
import type { ReviewPlan } from "../plan/plan.ts";
import { type Bench, makersOn } from "./makers.ts";
import { toolsOn } from "./tools.ts";

export function handlersOn(bench: Bench): Handlers {
  const makers = makersOn(bench);
  const tools = toolsOn(bench);
  return {
    maker: (name) => makers.get(name) ?? null,
    check: (name) => (name.startsWith("check-") ? checkOf(bench, name) : null),
    tool: (name) => tools.get(name) ?? null,
    toolNames: () => [...tools.keys()],
  };
}

function checkOf(bench: Bench, name: string): Check {
  const session = name.slice("check-".length);
  return {
    name, principal: `${name}@sha256:3`, timeoutSeconds: 60,
    run: (task, running) => judge(bench, task, running.signal),
    pin: () => Promise.resolve({ digest: `sha256:${String(bench.workshop.checkVersion(session)).padStart(64, "0")}` as Digest, pinned: ["the check"] }),
    revision: () => Promise.resolve(bench.workshop.revision(session)),
  };
}

async function judge({ workshop, process }: Bench, task: CheckTask, signal: AbortSignal): Promise<CheckRun> {
  const { sessionId, leaf, iteration } = task;
  const planned = workshop.review(sessionId, task);
  if (!planned) return answer({ verdict: "INCONCLUSIVE" });
  const before = workshop.revision(sessionId);
  const run = workshop.count(`reviews ${sessionId}/${leaf}/${iteration}`);
  await new Promise<void>((resolve) => void process.clock.after(planned.ms, resolve));
  if (signal.aborted) return answer({ verdict: "STOPPED" });
  if (planned.cannotStart) return answer({ verdict: "INCONCLUSIVE", cannotStart: true });
  if (run <= planned.movedRuns) workshop.change(sessionId);
  const { verdict, nextSteps } = saying(planned, run);
  workshop.seen.push({ session: sessionId, leaf, iteration, verdict, before, after: workshop.revision(sessionId) });
  return answer({ verdict, nextSteps: [...nextSteps], evidence: { leaf, iteration } });
}

function saying({ verdict, nextSteps, inconclusiveRuns, redRuns }: ReviewPlan, run: number): Pick<ReviewPlan, "verdict" | "nextSteps"> {
  if (run <= inconclusiveRuns) return { verdict: "INCONCLUSIVE", nextSteps: [] };
  if (run <= inconclusiveRuns + redRuns) return { verdict: "FAIL", nextSteps: ["look again"] };
  return { verdict, nextSteps: verdict === "INCONCLUSIVE" ? [] : nextSteps };
}

function answer(said: Partial<CheckRun>): CheckRun {
  return { verdict: "PASS", evidence: null, nextSteps: [], revision: null, cannotStart: false, usage: {}, ...said };
}
