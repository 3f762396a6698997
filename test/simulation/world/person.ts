/**
 * A person who answers what the sessions ask: looks at the target before saying what happened, decides on checkpoints, raises
 * budgets, ends pauses. Nobody kills a person, and they reach the ledger through a program of their own.
 */
import type { SessionId } from "@loopledger/shared/core/brand";
import { budgetOf } from "@loopledger/shared/core/budget/budget";
import type { Json, JsonObject } from "@loopledger/shared/core/json";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import { isFencedOff, windowOverAt } from "@loopledger/shared/core/session/rules/effects";
import type { Checkpoint, Effect, SessionState } from "@loopledger/shared/core/session/state";
import { standingOf } from "@loopledger/shared/core/session/status";
import { type Draft, type Engine, appendAct, submitGoal } from "@loopledger/shared/runtime";
import type { VirtualClock } from "@loopledger/shared/memory";
import type { Door, PersonAct, SessionPlan } from "../plan/plan.ts";
import { type Target, identityOf } from "./target.ts";

export interface PersonOptions {
  readonly engine: Engine;
  readonly name: string;
  readonly clock: VirtualClock;
  readonly target: Target;
  readonly sessions: readonly SessionPlan[];
  readonly thinksMs: number;
  /** Starts a program that takes a session one cycle further. */
  readonly advance: (sessionId: SessionId) => Promise<void>;
  readonly report: (what: string, error: unknown) => void;
}
/** The first also submits and acts. */
export const people = ["olga", "paul"] as const;
type HumanDraft = Extract<Draft, { type: "approval_decided" }>["data"];

export class Person {
  private readonly options: PersonOptions;
  private readonly actor: { readonly kind: "human"; readonly id: string };
  private readonly isFirst: boolean;
  private readonly plans: ReadonlyMap<string, SessionPlan>;
  private readonly thinking = new Set<string>();
  private readonly hesitated = new Set<string>();
  private readonly asked = new Map<string, number>();

  constructor(options: PersonOptions) {
    this.options = options;
    this.actor = { kind: "human", id: options.name };
    this.isFirst = options.name === people[0];
    this.plans = new Map(options.sessions.map((plan) => [plan.id, plan]));
  }

  /** Answers what is asked from now on. */
  watch(): void {
    this.options.engine.folds.listen(({ sessionId }) => this.notice(sessionId));
  }
  /** Submits, and acts unasked, at the times of the plan. */
  begin(): void {
    const { clock, engine, sessions } = this.options;
    const { actor } = this;
    for (const plan of sessions) {
      for (const at of plan.submittedAt) clock.after(at, () => this.does("submitting", () => submitGoal(engine, plan.goal, { actor, id: plan.id as SessionId })));
      if (plan.mixedUpAt !== null) {
        const other = { ...plan.goal, goal: "something else" };
        clock.after(Math.max(plan.mixedUpAt, Math.min(...plan.submittedAt) + 100), () => this.does("submitting", () => submitGoal(engine, other, { actor, id: plan.id as SessionId })));
      }
      for (const act of plan.acts) clock.after(act.at, () => this.does(act.kind, () => this.act(plan.id as SessionId, act.kind)));
    }
  }

  private does(what: string, work: () => Promise<unknown>): void {
    work().catch((error: unknown) => this.options.report(`the person: ${what}`, error));
  }
  private notice(sessionId: SessionId): void {
    if (this.thinking.has(sessionId)) return;
    this.thinking.add(sessionId);
    this.options.clock.after(this.options.thinksMs, () => this.does("answering", async () => {
      this.thinking.delete(sessionId);
      const plan = this.plans.get(sessionId);
      if (plan && (await this.answer(await this.options.engine.folds.open(sessionId), plan)) === "later") this.notice(sessionId);
    }));
  }

  private async act(sessionId: SessionId, kind: PersonAct): Promise<void> {
    const state = await this.options.engine.folds.open(sessionId);
    if (!state.submission) return;
    if (kind === "advance") return this.options.advance(sessionId);
    const { actor } = this;
    const drafts: Record<Exclude<PersonAct, "advance">, Draft> = {
      pause: { type: "pause_requested", data: { now: false, reason: "lunch" }, actor },
      "pause-now": { type: "pause_requested", data: { now: true, reason: "stop" }, actor: this.actor },
      cancel: { type: "cancel_requested", data: { reason: "no more" }, actor: this.actor },
      guidance: { type: "guidance", data: { text: "mind the gap" }, actor: this.actor },
      checkpoint: { type: "checkpoint_requested", data: { reason: "let me see" }, actor: this.actor },
    };
    await appendAct(this.options.engine, sessionId, drafts[kind]);
  }

  /** Answers what the session asks at this moment; `later` where the answer is not known yet. */
  private async answer(state: SessionState, plan: SessionPlan): Promise<"later" | null> {
    if (state.end?.reason === "incomplete_tool_turn") return this.settle(state);
    if (state.end?.reason === "check_unavailable" && plan.expected.reason !== "check_unavailable") {
      await this.append(state, { type: "resumed", data: { acceptCheck: false, reason: "it can be judged again" }, actor: this.actor });
    }
    if (state.end) return null;
    const pending = state.pending.map((id) => lookUp(state.checkpoints, id)).find((one) => one?.request && one.decision === null && !(one.trigger === "before" && plan.protected === "silence"));
    if (pending) return this.decide(state, pending, plan);
    if (standingOf(state).reason === "budget_exhausted") await this.raise(state, plan);
    else if (state.pause || state.suspension) await this.append(state, { type: "resumed", data: { acceptCheck: true, reason: "go on" }, actor: this.actor });
    return null;
  }
  private async raise(state: SessionState, plan: SessionPlan): Promise<void> {
    const { iterations, costUsd } = budgetOf(state);
    const outOfIterations = iterations.remaining === 0 && state.open === null;
    const data = { ...(outOfIterations && plan.raise > 0 && { iterations: plan.raise }), ...((costUsd.remaining ?? 1) < 1 && { costUsd: 2 }) };
    if (Object.keys(data).length > 0) await this.append(state, { type: "budget_raised", data, actor: this.actor });
  }

  /** The look comes first and is a true one; that nothing happened is said only when nothing can happen any more. */
  private async settle(state: SessionState): Promise<"later" | null> {
    const effect = lookUp(state.effects, state.unsettled[0] ?? "");
    if (!effect) return null;
    const over = this.options.clock.now() > windowOverAt(effect, state.lastClaimAt) + 50;
    const fenced = isFencedOff(effect, state.epoch);
    const look = this.look(state, effect);
    if (look.status === "unknown") return "later";
    if (look.status !== "happened" && !over && !fenced) return "later";
    const data = {
      intent: effect.intent, key: effect.key, epoch: state.epoch, outcome: look.status, evidence: "looked at the target", by: this.actor.id,
      result: look.status === "happened" ? look.result : null,
    };
    await this.append(state, { type: "reconciled", data, actor: this.actor });
    return state.unsettled.length > 1 ? "later" : null;
  }
  private look(state: SessionState, effect: Effect): ReturnType<Target["look"]> {
    const door = (effect.tool.startsWith("maker:") ? "unsafe" : effect.tool) as Door;
    return this.options.target.look({ door, session: state.sessionId, epoch: state.epoch, key: effect.key, args: effect.args });
  }

  private async decide(state: SessionState, checkpoint: Checkpoint, plan: SessionPlan): Promise<"later" | null> {
    const said = this.decision(state, checkpoint, plan);
    const data: HumanDraft = { checkpoint: checkpoint.id, digest: checkpoint.digest, comment: "as I see it", ...said };
    await this.append(state, { type: "approval_decided", data, actor: this.actor });
    return said.decision === "PAUSE" ? "later" : null;
  }
  private decision(state: SessionState, checkpoint: Checkpoint, plan: SessionPlan): Pick<HumanDraft, "decision" | "action"> {
    const action = checkpoint.action as JsonObject;
    const first = !this.hesitated.has(checkpoint.id);
    this.hesitated.add(checkpoint.id);
    if (plan.hesitates && first) return { decision: "PAUSE" };
    if (checkpoint.trigger === "repeat_after_takeover") return this.mayRepeat(state, { action, points: plan.points });
    if (checkpoint.trigger === "on_plan_complete" && plan.hesitates && !this.hesitated.has(`${state.sessionId} again`)) {
      this.hesitated.add(`${state.sessionId} again`);
      return { decision: "RETRY" };
    }
    if (checkpoint.trigger !== "before") return { decision: "APPROVE" };
    if (plan.contradicts && !this.isFirst) return { decision: "REJECT" };
    if (plan.protected !== "MODIFY") return { decision: plan.protected === "REJECT" ? "REJECT" : "APPROVE" };
    const args = { ...(action["args"] as JsonObject), words: "as I want it" };
    return { decision: "MODIFY", action: { ...action, args } };
  }

  /** A call that was worded anew is let through only where what it means has not been done, and not for ever. */
  private mayRepeat(state: SessionState, asked: { readonly action: JsonObject; readonly points: boolean }): Pick<HumanDraft, "decision" | "action"> {
    const identity = identityOf(asked.action["args"] as Json, "");
    const times = (this.asked.get(identity) ?? 0) + 1;
    this.asked.set(identity, times);
    if (times <= 3 && !this.options.target.hasApplied(identity)) return { decision: "APPROVE" };
    const settled = Object.values(state.work).flatMap((work) => work.settled).find((one) => identityOf(one.args, "") === identity);
    if (!asked.points || times > 1 || !settled) return { decision: "REJECT" };
    return { decision: "MODIFY", action: { tool: settled.tool, args: settled.args } };
  }
  private async append(state: SessionState, draft: Draft): Promise<void> {
    const verdict = await appendAct(this.options.engine, state.sessionId, draft);
    if (verdict.kind === "void") this.notice(state.sessionId);
  }
}
