/**
 * The checker: runs review cycles for the owner, and writes what follows from the verdict.
 *
 * C1. What a check is stays what was pinned; where it differs the session waits for a person.
 * C2. A verdict counts for a revision that did not move while the check ran; where it moved the check runs again.
 * C3. A check has no tools, and is another principal than the maker.
 */
import type { CheckRun, CheckTask } from "@loopledger/shared/core/effects/handling";
import type { Amounts } from "@loopledger/shared/core/events/fields";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { budgetLine, spentToTheLast } from "@loopledger/shared/core/budget/budget";
import type { JsonObject } from "@loopledger/shared/core/json";
import { own } from "@loopledger/shared/core/session/persistent-map";
import { checkOf, nodeOf } from "@loopledger/shared/core/session/plan";
import type { OpenDispatch, SessionState } from "@loopledger/shared/core/session/state";
import type { Check } from "@loopledger/shared/ports";
import { type CycleRunner, type Engine, StaleOwner, Steps, type Tenure, fit, watchTenure } from "@loopledger/shared/runtime";
import { checkDraft } from "./verdict.ts";

/** How often a check runs again because the workspace moved under it. */
const runsMax = 3;

export interface CheckerOptions {
  /** Gets what a running check prints. */
  readonly live?: (sessionId: string, source: "maker" | "check", chunk: Uint8Array) => void;
}
interface PinnedCheck {
  readonly digest: string;
  readonly pinned: readonly string[];
}
interface Review {
  readonly tenure: Tenure;
  readonly open: OpenDispatch;
  readonly check: Check;
  readonly actor: Actor;
}

export function reviewRunner(engine: Engine, options: CheckerOptions = {}): CycleRunner {
  return {
    cycle: "review", role: "checker",
    async run(tenure, stopping) {
      const { open } = tenure.state;
      if (!open) throw new StaleOwner(tenure.sessionId, "dropped");
      const name = checkOf(tenure.state, open.leaf);
      const check = engine.handlers.check(name);
      if (!check) return tenure.suspend({ reason: "handler_missing", error: `no check ${name} is registered` });
      await review(engine, { tenure, open, check, actor: { kind: "checker", id: check.principal } }, { stopping, options });
    },
    settle: () => Promise.reject(new RangeError("a review has no effects to settle")),
    perform: () => Promise.reject(new RangeError("a review performs no action")),
  };
}

async function review(engine: Engine, at: Review, how: { readonly stopping: AbortSignal; readonly options: CheckerOptions }): Promise<void> {
  const { tenure, open, check, actor } = at;
  const watch = watchTenure(engine, tenure, { stopping: how.stopping });
  try {
    const before = await check.pin();
    const pinned = own(tenure.state.pins, check.name);
    if (pinned && pinned.digest !== before.digest) return suspendChanged(at, { found: before, expected: pinned });
    const seen = await runFresh(engine, at, { signal: watch.signal, options: how.options });
    if (watch.reason() === "stale") throw new StaleOwner(tenure.sessionId, "stale_epoch");
    if (watch.reason() !== null) return;
    if (seen.missing !== null) return tenure.suspend({ reason: "evidence_missing", error: seen.missing });
    if (seen.usedUp) return tenure.suspend({ reason: "budget_exhausted", error: `The budget of ${spentToTheLast(tenure.state) ?? "cost or tokens"} is used up` });
    if (seen.refused) return tenure.suspend({ reason: "budget_exhausted", error: "A reservation of the check does not fit into what is left of the budget", detail: { ...seen.refused } as JsonObject });
    const after = await check.pin();
    if (after.digest !== before.digest) return suspendChanged(at, { found: after, expected: before });
    const evidence = await fit(engine, tenure.sessionId, seen.run.evidence);
    const draft = checkDraft(tenure.state, open, { ...seen, evidence, check: check.name, pin: before, actor });
    await tenure.append([draft], { follow: true });
  } finally {
    watch.close();
  }
}

/** Runs the check until the workspace stood still around it, a bounded number of times. */
async function runFresh(
  engine: Engine, at: Review, how: { readonly signal: AbortSignal; readonly options: CheckerOptions },
): Promise<{ readonly run: CheckRun; readonly revision: string | null; readonly moved: boolean; readonly refused: Amounts | null; readonly missing: string | null; readonly usedUp: boolean }> {
  const { check, tenure } = at;
  const { live } = how.options;
  const steps = new Steps(engine, tenure, { actor: at.actor, tools: null });
  for (let runs = 1; ; runs++) {
    const before = await check.revision();
    const run = await check.run(taskOf(at, steps), { signal: how.signal, ...(live && { live: (chunk) => live(tenure.sessionId, "check", chunk) }) });
    await steps.idle();
    const after = await check.revision();
    const moved = engine.guards.receiptFreshness && before !== after;
    if (!moved || runs >= runsMax || how.signal.aborted) {
      return { run, moved, refused: steps.refused, missing: steps.missing, usedUp: steps.usedUp, revision: run.revision ?? after ?? tenure.state.lastBuilt?.revision ?? null };
    }
    engine.log.info({ session: tenure.sessionId, runs }, "the workspace changed while the check ran; it runs again");
  }
}

function taskOf({ tenure, open }: Review, steps: Steps): CheckTask {
  const { state } = tenure;
  return {
    sessionId: tenure.sessionId, dispatch: open.eventId, iteration: open.iteration, leaf: open.leaf, task: open.task, title: nodeOf(state, open.leaf)?.title ?? open.task,
    epoch: tenure.epoch, attempt: open.attempts, input: checkInput(state, open), steps, wallSecondsLeft: budgetLine(state, "wallSeconds").remaining,
  };
}

/** What a check is told, made from the fold alone. */
export function checkInput(state: SessionState, open: OpenDispatch): JsonObject {
  const goal = state.submission?.goal;
  const built = state.lastBuilt && {
    summary: state.lastBuilt.summary, revision: state.lastBuilt.revision, iteration: state.lastBuilt.iteration, artifacts: [...state.lastBuilt.artifacts],
  };
  return { sessionId: state.sessionId, iteration: open.iteration, leaf: open.leaf, goal: goal?.goal ?? "", inputs: goal?.inputs ?? {}, built } as JsonObject;
}

/** The check is not the one that was expected: the session waits for a person. */
function suspendChanged(at: Review, { found, expected }: { readonly found: PinnedCheck; readonly expected: PinnedCheck }): Promise<void> {
  const { name } = at.check;
  const detail = { check: name, expected: expected.digest, found: found.digest, pinned: [...found.pinned] };
  return at.tenure.suspend({ reason: "check_changed", error: `check ${name} has changed: ${whatChanged(found.pinned, expected.pinned)}`, detail });
}

/** As exactly as names tell it: what came, what went, else what it may be. */
function whatChanged(found: readonly string[], before: readonly string[]): string {
  const came = found.filter((one) => !before.includes(one));
  const went = before.filter((one) => !found.includes(one));
  if (came.length + went.length > 0) return [...came.map((one) => `${one} is pinned now`), ...went.map((one) => `${one} is gone`)].join(", ");
  return found.length === 0 ? "its command or function, since it pins no file" : `its command, or the content of one of ${found.join(", ")}`;
}
