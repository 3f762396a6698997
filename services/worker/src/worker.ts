/**
 * The worker: runs build cycles for the owner. Its maker reaches tools, steps and budget through the claim only.
 *
 * What the maker's end means is decided in `outcome.ts`; this file runs it and appends what follows. An `external` maker is an
 * effect itself: what that means stands in `external.ts`.
 */
import { messageOf } from "@loopledger/shared/core/errors";
import type { CycleEnd, MakerTask } from "@loopledger/shared/core/effects/handling";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { budgetLine, spentToTheLast } from "@loopledger/shared/core/budget/budget";
import type { Amounts } from "@loopledger/shared/core/events/fields";
import type { JsonObject } from "@loopledger/shared/core/json";
import { passingFault } from "@loopledger/shared/core/retry/passing";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { handlersNamed } from "@loopledger/shared/core/session/handlers-named";
import { makerOf } from "@loopledger/shared/core/session/plan";
import type { Checkpoint, OpenDispatch, SessionState } from "@loopledger/shared/core/session/state";
import type { Maker } from "@loopledger/shared/ports";
import { type CycleRunner, type Engine, StaleOwner, Steps, type Tenure, watchTenure } from "@loopledger/shared/runtime";
import { Effects } from "./effects.ts";
import { beginOutside, leaveUnknown, outcomeOutside } from "./external.ts";
import { makerInput, makerKey } from "./input.ts";
import { type Ending, builtDraft, failedDraft } from "./outcome.ts";
import { sitsOut } from "./putting-off.ts";
import { ToolCalls } from "./tool-calls.ts";

export interface WorkerOptions {
  /** Gets what a running maker prints. */
  readonly live?: (sessionId: string, source: "maker" | "check", chunk: Uint8Array) => void;
}
interface Run {
  readonly tenure: Tenure;
  readonly open: OpenDispatch;
  readonly maker: Maker;
  readonly actor: Actor;
  readonly steps: Steps;
  /** Left when the run has to stop: its calls wait for nothing any more. */
  readonly leaving: Leaving;
}
/** Told to the calls of a run that wait. Its signal is made for the first of them; most runs have none. */
class Leaving {
  #controller: AbortController | null = null;
  #hasLeft = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#hasLeft) this.leave();
    return this.#controller.signal;
  }
  /** Nobody reads the reason; without one each run would make an error with its stack. */
  leave(): void {
    this.#hasLeft = true;
    this.#controller?.abort("the run is over");
  }
}
/** The longest time that a target may ask for without its maker being told to leave, in seconds. */
const sitOutSecondsMax = 60;

export function buildRunner(engine: Engine, options: WorkerOptions = {}): CycleRunner {
  return {
    cycle: "build", role: "worker",
    async run(tenure, stopping) {
      const { open } = tenure.state;
      if (!open) throw new StaleOwner(tenure.sessionId, "dropped");
      const name = makerOf(tenure.state, open.leaf);
      const maker = name === null ? null : engine.handlers.maker(name);
      if (!maker) return missing(tenure, `no maker ${name ?? "for this kind of leaf"} is registered`);
      const unguarded = missingGuard(engine, tenure.state);
      if (unguarded) return missing(tenure, unguarded);
      if (spentToTheLast(tenure.state)) return usedUp(tenure);
      const actor: Actor = { kind: "maker", id: maker.principal };
      const leaving = new Leaving();
      // An external maker that left would be an unknown outcome: it is kept waiting.
      const waiting = { secondsMax: maker.effects === "external" ? Number.POSITIVE_INFINITY : sitOutSecondsMax, get signal() { return leaving.signal; } };
      const run: Run = { tenure, open, maker, actor, leaving, steps: new Steps(engine, tenure, { actor, tools: new ToolCalls(engine, tenure, { actor, waiting }) }) };
      const begun = maker.effects === "external" ? await beginOutside(engine, run) : null;
      if (begun?.kind === "late") return;
      if (begun?.kind === "over") return tenure.append([builtDraft(begun.end, endingOf(engine, run))], { follow: true });
      await finish(engine, run, await runMaker(engine, run, { stopping, options, secondsLeft: begun?.secondsLeft ?? null }));
    },
    async settle(tenure, keys, stopping) {
      const effects = new Effects(engine, tenure, { ...sitsOut, signal: stopping });
      for (const key of keys) {
        const effect = lookUp(tenure.state.effects, key);
        if (effect && effect.settled === null && !tenure.state.end) await effects.settle(effect, { kind: "worker", id: engine.ownerId });
      }
    },
    perform: (tenure, checkpoint, stopping) => performAction(engine, tenure, { checkpoint, stopping }),
  };
}

interface Running {
  readonly stopping: AbortSignal;
  readonly options: WorkerOptions;
  /** Of an external maker: the rest of its time; null where its own limit is all. */
  readonly secondsLeft: number | null;
}

async function runMaker(engine: Engine, run: Run, at: Running): Promise<CycleEnd> {
  const { tenure, open, maker, steps } = run;
  const leave = (): void => run.leaving.leave();
  const watch = watchTenure(engine, tenure, { stopping: at.stopping, told: leave });
  const { live } = at.options;
  try {
    const limits = [budgetLine(tenure.state, "wallSeconds").remaining, at.secondsLeft].filter((one) => one !== null);
    const wall = limits.length > 0 ? Math.min(...limits) : null;
    const task: MakerTask = {
      sessionId: tenure.sessionId, dispatch: open.eventId, iteration: open.iteration, leaf: open.leaf, task: open.task, epoch: tenure.epoch,
      attempt: open.attempts, idempotencyKey: makerKey(tenure.state, open), input: makerInput(tenure.state, open), steps, wallSecondsLeft: wall,
    };
    const end = await maker.run(task, { signal: watch.signal, ...(live && { live: (chunk) => live(tenure.sessionId, "maker", chunk) }) });
    // Who has left waits for nothing: a call of it that was put off is not made after it.
    leave();
    await steps.idle();
    if (watch.reason() === "stale") throw new StaleOwner(tenure.sessionId, "stale_epoch");
    return watch.reason() !== null ? { kind: "stopped" } : steps.suspended ? { kind: "suspended" } : end;
  } catch (error) {
    return putOff(tenure, error);
  } finally {
    watch.close();
  }
}

/** A run that the surroundings broke off is tried again as any transient failure is, unless a call of it has to be settled first. */
function putOff(tenure: Tenure, error: unknown): CycleEnd {
  const code = passingFault(error);
  if (code === null || !tenure.holds() || tenure.state.unsettled.length > 0) throw error;
  return { kind: "failed", failure: "transient", code, message: `${code}: ${messageOf(error)}`, fingerprint: code };
}

async function finish(engine: Engine, run: Run, end: CycleEnd): Promise<void> {
  const { tenure, maker, steps } = run;
  const external = maker.effects === "external";
  if (end.kind === "suspended" && steps.missing !== null && !external) return tenure.suspend({ reason: "evidence_missing", error: steps.missing });
  if (end.kind === "suspended" && steps.refused && !external) return outOfBudget(tenure, steps.refused);
  if (end.kind === "stopped" || end.kind === "suspended") return external ? leaveUnknown(tenure) : undefined;
  if (end.kind === "failed" && external && end.failure !== "transient") return leaveUnknown(tenure);
  const at = endingOf(engine, run);
  const outcome = end.kind === "built" ? builtDraft(end, at) : failedDraft(end, at);
  await tenure.append([...(external ? [outcomeOutside(run, end)] : []), outcome], { follow: true });
}
function endingOf(engine: Engine, { tenure, open, actor, steps }: Run): Ending {
  return { open, actor, usage: steps.used, retryAttempts: tenure.state.submission?.bounds.retryAttempts ?? 1, random: engine.ids.random() };
}

/** A guard that the goal names and nobody knows would be passed without a word. */
function missingGuard({ handlers }: Engine, { submission }: SessionState): string | null {
  const named = submission?.goal.policy ? handlersNamed(submission.goal) : null;
  const tool = named?.tools.find((name) => !handlers.tool(name));
  if (tool !== undefined) return `tool ${tool}, before which the policy asks a person, is not registered`;
  const gate = named?.gates[0];
  return gate === undefined ? null : `the policy names the gate ${gate}, and no gates are run here`;
}

function missing(tenure: Tenure, error: string): Promise<void> {
  return tenure.suspend({ reason: "handler_missing", error });
}
/** A run that was refused a reservation is not begun again before somebody raises the budget. */
function outOfBudget(tenure: Tenure, wanted: Amounts): Promise<void> {
  const text = Object.entries(wanted).map(([of, amount]) => `${amount} ${of}`).join(" and ");
  return tenure.suspend({ reason: "budget_exhausted", error: `A reservation of ${text} does not fit into what is left of the budget`, detail: { ...wanted } as JsonObject });
}
/** What was spent elsewhere since the dispatch, or by an owner that was fenced off, leaves nothing for this cycle. */
function usedUp(tenure: Tenure): Promise<void> {
  return tenure.suspend({ reason: "budget_exhausted", error: `The budget of ${spentToTheLast(tenure.state)} is used up` });
}

/** Does exactly what was approved: the proposed action, or the one that a person put in its place. */
async function performAction(engine: Engine, tenure: Tenure, { checkpoint, stopping }: { readonly checkpoint: Checkpoint; readonly stopping: AbortSignal }): Promise<void> {
  const action = checkpoint.approvedAction as { readonly tool: string; readonly args?: never; readonly key?: string };
  const tool = engine.handlers.tool(action.tool);
  if (!tool) return missing(tenure, `tool ${action.tool}, which was approved, is not registered`);
  if (spentToTheLast(tenure.state)) return usedUp(tenure);
  const actor: Actor = { kind: "worker", id: engine.ownerId };
  const intent = new ToolCalls(engine, tenure, { actor }).intentOf(tool, { args: action.args ?? null, callerKey: action.key, approval: checkpoint.id });
  await new Effects(engine, tenure, { ...sitsOut, signal: stopping }).make(tool, intent, actor);
}
