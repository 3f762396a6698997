/** The status document, as the audit derives it from its own fold: the one form that every reader shows. */
import type { Json } from "@loopledger/shared/core/json";
import type { Effect, Session, Timer } from "./session.ts";
import { heldBack } from "./derived.ts";

export type StatusDocument = Readonly<Record<string, unknown>>;

function iso(time: number): string {
  return new Date(time).toISOString();
}
const when = (time: number | null): string | null => (time === null ? null : iso(time));

interface Standing {
  readonly disposition: string;
  readonly reason: string | null;
  readonly error: string | null;
}
export function standing(session: Session): Standing {
  const waiting = (reason: string, error: string | null = null): Standing => ({ disposition: "waiting", reason, error });
  const { end, suspension, pause } = session;
  if (session.hold) return waiting("unknown_schema", session.hold.detail);
  if (end) return { disposition: end.disposition, reason: end.reason, error: end.error };
  if (suspension) return waiting(suspension.reason, suspension.error);
  if (session.pending.length > 0) return waiting("approval");
  if (pause && (pause.now || !session.holder)) return waiting("paused");
  if ([...session.children.values()].some((child) => child.open)) return waiting("children");
  if (clocks(session).length > 0) return waiting("retry", session.open?.lastError ?? null);
  return lacksBudget(session) ? waiting("budget_exhausted") : { disposition: "running", reason: null, error: null };
}

/** Timers that the session itself waits for; an approval's expiry is none. */
function clocks(session: Session): readonly Timer[] {
  return session.timers.filter((timer) => timer.kind !== "approval");
}
function lacksBudget(session: Session): boolean {
  if (session.open || session.owed?.what !== "dispatched") return false;
  const { cycle } = session.owed.content as { readonly cycle: "build" | "review" };
  return heldBack(session, null) === null && heldBack(session, cycle) !== null;
}
/** Something is owed and may be written now by anybody. */
export function callsForSomething(session: Session): boolean {
  if (session.report || session.request) return true;
  const { owed } = session;
  if (!owed || session.end || session.open) return false;
  const cycle = owed.what === "dispatched" ? (owed.content as { readonly cycle: "build" | "review" }).cycle : null;
  return heldBack(session, cycle) === null;
}

function effectState(session: Session, effect: Effect): string {
  return effect.outcome ?? (session.isUnknown || effect.epoch < session.epoch ? "unknown" : "intended");
}

export function statusOf(session: Session): StatusDocument {
  const { submission, open, holder, verdict, tree } = session;
  const owedTask = session.owed?.what === "dispatched" ? ((session.owed.content as { readonly task: string }).task) : null;
  return {
    sessionId: session.id, goal: submission && { text: submission.goal.goal, digest: submission.digest }, ...standing(session), asOf: session.seq,
    position: session.offset === null ? null : { partition: session.home, offset: session.offset }, epoch: session.epoch,
    owner: holder && { id: holder.id, role: holder.role }, active: holder && !session.end ? (open?.cycle ?? null) : null,
    iteration: open?.iteration ?? session.iteration, task: open?.task ?? owedTask,
    leaves: tree.nodes.map(({ id, title, status, seq }) => ({ id, title, status, passes: status === "verified", seq })),
    effects: [...session.effects.values()].sort((a, b) => a.seq - b.seq)
      .map((effect) => ({ key: effect.key, tool: effect.tool, contract: effect.contract, state: effectState(session, effect), seq: effect.seq })),
    verdict: verdict && { verdict: verdict.verdict, next_steps: verdict.next_steps, evidence: verdict.evidence, revision: verdict.revision, seq: verdict.seq },
    budget: session.purse.lines(open?.cycle === "build"), waitingOn: waitingOn(session), children: [...session.children.values()].map((child) => ({ ...child })),
    receipt: session.receipt as Json, void: { ...session.voids }, attempt: Math.max(open?.runs ?? 1, 1), takeovers: session.takeovers,
    labels: submission?.goal.labels ?? {}, parent: submission?.parent?.sessionId ?? null, createdAt: when(submission?.at ?? null), at: when(session.at),
    endedAt: when(session.end?.at ?? null),
  };
}

interface Waited {
  readonly kind: string;
  readonly id: string;
  readonly since: string;
  readonly expires: string | null;
}
function waitingOn(session: Session): Waited[] {
  const one = (kind: string, id: string, at: { readonly since: number | null; readonly expires?: number | null }): Waited => ({
    kind, id, since: when(at.since) ?? "", expires: when(at.expires ?? null),
  });
  if (session.hold) return [one("schema", session.hold.detail, { since: session.hold.since })];
  const { at, end, suspension, pause } = session;
  const list = session.pending.map((id) => {
    const checkpoint = session.checkpoints.get(id);
    return one("approval", id, { since: checkpoint?.since ?? at, expires: checkpoint?.expiresAt ?? null });
  });
  if (session.isUnknown) for (const key of session.unsettled) list.push(one("reconciliation", key, { since: end?.at ?? null }));
  for (const child of session.children.values()) if (child.open) list.push(one("child", child.id, { since: at }));
  for (const timer of clocks(session)) list.push(one(timer.kind, timer.armedBy, { since: at, expires: timer.dueAt }));
  if (suspension && suspension.reason !== "budget_exhausted") list.push(one(suspension.reason, suspension.error ?? "", { since: suspension.since }));
  if (pause) list.push(one("resume", "paused", { since: pause.since }));
  if (standing(session).reason === "budget_exhausted") list.push(one("budget", "budget", { since: at }));
  return list;
}
