/**
 * Status, derived: the one form that the CLI, the API and every read model show. Nothing stores it as a fact.
 * Why a session stopped (`reason`) and what was established (`verdict`) are two fields.
 */
import { type BudgetView, budgetOf } from "../budget/budget.ts";
import type { LogTime } from "../brand.ts";
import type { Contract, Cycle, Disposition, Reason } from "../events/fields.ts";
import type { Json } from "../json.ts";
import { isoOf } from "./iso.ts";
import { owedDispatch } from "./owed.ts";
import { endsUnknown } from "./endings.ts";
import { lookUp, values } from "./persistent-map.ts";
import { heldBack } from "./rules/dispatching.ts";
import { type Effect, type Receipt, type SessionState, holderOf } from "./state.ts";

export interface WaitingOn { readonly kind: string; readonly id: string; readonly since: string; readonly expires: string | null }
export interface StatusView {
  readonly sessionId: string;
  readonly goal: { readonly text: string; readonly digest: string } | null;
  readonly disposition: Disposition;
  readonly reason: Reason | null;
  readonly error: string | null;
  readonly asOf: number;
  readonly position: { readonly partition: number; readonly offset: number } | null;
  readonly epoch: number;
  readonly owner: { readonly id: string; readonly role: string } | null;
  readonly active: Cycle | null;
  readonly iteration: number;
  readonly task: string | null;
  readonly leaves: readonly { readonly id: string; readonly title: string; readonly status: string; readonly passes: boolean; readonly seq: number }[];
  readonly effects: readonly { readonly key: string; readonly tool: string; readonly contract: Contract; readonly state: EffectState; readonly seq: number }[];
  readonly verdict: { readonly verdict: string; readonly next_steps: readonly Json[]; readonly evidence: Json; readonly revision: string | null; readonly seq: number } | null;
  readonly budget: BudgetView;
  readonly waitingOn: readonly WaitingOn[];
  readonly children: readonly { readonly id: string; readonly open: boolean; readonly disposition: string | null }[];
  readonly receipt: Receipt | null;
  readonly void: Readonly<Record<string, number>>;
  readonly attempt: number;
  readonly takeovers: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly parent: string | null;
  readonly createdAt: string | null;
  readonly at: string | null;
  readonly endedAt: string | null;
}
export type EffectState = "intended" | "confirmed" | "failed" | "unknown";

export function effectState(state: SessionState, effect: Effect): EffectState {
  if (effect.settled) return effect.settled;
  return effect.epoch < state.epoch || endsUnknown(state.end) ? "unknown" : "intended";
}

interface Standing { readonly disposition: Disposition; readonly reason: Reason | null; readonly error: string | null }

export function standingOf(state: SessionState): Standing {
  const waiting = (reason: Reason, error: string | null = null): Standing => ({ disposition: "waiting", reason, error });
  if (state.hold) return waiting("unknown_schema", state.hold.detail);
  if (state.end) return { disposition: state.end.disposition, reason: state.end.reason, error: state.end.error };
  if (state.suspension) return waiting(state.suspension.reason, state.suspension.error);
  if (state.pending.length > 0) return waiting("approval");
  if (state.pause && (state.pause.now || !holderOf(state))) return waiting("paused");
  if (Object.values(state.children).some((child) => child.open)) return waiting("children");
  if (state.timers.some((timer) => timer.kind !== "approval")) return waiting("retry", state.open?.lastError ?? null);
  if (!state.open && heldBack(state) === "budget_exhausted") return waiting("budget_exhausted");
  return { disposition: "running", reason: null, error: null };
}

export function statusOf(state: SessionState): StatusView {
  const holder = holderOf(state);
  const { submission } = state;
  return {
    sessionId: state.sessionId,
    goal: submission && { text: submission.goal.goal, digest: submission.digest },
    ...standingOf(state),
    asOf: state.seq, position: state.position, epoch: state.epoch,
    owner: holder && { id: holder.id, role: holder.role }, active: holder && state.open && !state.end ? state.open.cycle : null,
    iteration: state.open?.iteration ?? state.iteration, task: state.open?.task ?? owedDispatch(state)?.task ?? null,
    leaves: (submission?.plan ?? []).map((node) => leafView(state, node)),
    effects: values(state.effects).sort((a, b) => a.seq - b.seq)
      .map((effect) => ({ key: effect.key, tool: effect.tool, contract: effect.contract, state: effectState(state, effect), seq: effect.seq })),
    verdict: state.lastCheck && {
      verdict: state.lastCheck.verdict, next_steps: state.lastCheck.next_steps as readonly Json[], evidence: state.lastCheck.evidence,
      revision: state.lastCheck.revision, seq: state.lastCheck.seq,
    },
    budget: budgetOf(state), waitingOn: waitingOn(state),
    children: Object.values(state.children).map((child) => ({ ...child })),
    receipt: state.receipt, void: state.void as Readonly<Record<string, number>>,
    attempt: state.open && state.open.attempts > 1 ? state.open.attempts : 1, takeovers: state.takeovers,
    labels: submission?.goal.labels ?? {}, parent: submission?.parent?.sessionId ?? null,
    createdAt: when(state.createdAt), at: when(state.at), endedAt: when(state.end?.at ?? null),
  };
}

function leafView(state: SessionState, node: { readonly id: string; readonly title: string }): StatusView["leaves"][number] {
  const leaf = state.leaves[node.id];
  const status = leaf?.status ?? "open";
  return { id: node.id, title: node.title, status, passes: status === "verified", seq: leaf?.seq ?? 0 };
}

function waitingOn(state: SessionState): WaitingOn[] {
  const item = (kind: string, id: string, at: { since: LogTime | null; expires?: LogTime | null }): WaitingOn => ({
    kind, id, since: when(at.since) ?? "", expires: when(at.expires ?? null),
  });
  if (state.hold) return [item("schema", state.hold.detail, { since: state.hold.since })];
  const approvals = state.pending.map((id) => {
    const checkpoint = lookUp(state.checkpoints, id);
    return item("approval", id, { since: checkpoint?.since ?? state.at, expires: checkpoint?.expiresAt ?? null });
  });
  const unknown = endsUnknown(state.end) ? state.unsettled.map((key) => item("reconciliation", key, { since: state.end?.at ?? null })) : [];
  const timers = state.timers.filter((timer) => timer.kind !== "approval").map((timer) => item(timer.kind, timer.armedBy, { since: state.at, expires: timer.dueAt }));
  const suspension = state.suspension && state.suspension.reason !== "budget_exhausted" ? [item(state.suspension.reason, state.suspension.error ?? "", { since: state.suspension.since })] : [];
  const pause = state.pause ? [item("resume", "paused", { since: state.pause.since })] : [];
  const budget = standingOf(state).reason === "budget_exhausted" ? [item("budget", "budget", { since: state.at })] : [];
  const children = Object.values(state.children).filter((child) => child.open).map((child) => item("child", child.id, { since: state.at }));
  return [...approvals, ...unknown, ...children, ...timers, ...suspension, ...pause, ...budget];
}

function when(time: LogTime | null): string | null {
  return time === null ? null : isoOf(time);
}
