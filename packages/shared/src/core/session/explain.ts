/**
 * The six questions that anybody may ask of a session, answered from its records: what goal, which steps are complete, which effects
 * are confirmed, what evidence there is, what budget remains, and whether it is active. It never decides anything.
 *
 * Q1. Every answer names the seq that it rests on: the accepted record that last changed it.
 * Q2. Asked at a seq, it answers from the records up to there and from nothing later.
 * Q3. Refused records change no answer.
 */
import type { Seq, SessionId, Sha256 } from "../brand.ts";
import { type BudgetView, budgetOf } from "../budget/budget.ts";
import type { LedgerRecord } from "../events/envelope.ts";
import type { Disposition, Reason } from "../events/fields.ts";
import type { Json } from "../json.ts";
import { type FoldEntry, evolve } from "./evolve.ts";
import { budgetText, effectsText, evidenceText, goalText, shortened, stepsText } from "./explain-text.ts";
import { type OwnerLooks, standstill } from "./standstill.ts";
import { type Owner, type SessionState, emptySession, holderOf } from "./state.ts";
import { type StatusView, statusOf } from "./status.ts";

export interface Answer<T> {
  readonly answer: T;
  /** The accepted record that last changed this answer. */
  readonly seq: number;
  /** The answer as a person reads it. */
  readonly text: string;
}
export interface Evidence {
  readonly verdict: string;
  readonly next_steps: readonly Json[];
  readonly evidence: Json;
  readonly revision: string | null;
}
export interface Answers {
  readonly goal: Answer<{ readonly text: string; readonly digest: string; readonly check: string } | null>;
  readonly steps: Answer<StatusView["leaves"]>;
  readonly effects: Answer<StatusView["effects"]>;
  /** The last verdict; null before the first. */
  readonly evidence: Answer<Evidence | null>;
  readonly budget: Answer<BudgetView>;
  /** Whether an owner is at a cycle. */
  readonly active: Answer<boolean>;
}
export interface Explanation {
  readonly sessionId: string;
  readonly asOf: number;
  readonly disposition: Disposition;
  readonly reason: Reason | null;
  readonly answers: Answers;
  /** Why it stands still, or what it is doing. */
  readonly why: string;
  /** The next command to type. */
  readonly next: string;
}
export interface Asking {
  readonly sessionId: SessionId;
  readonly sha256: Sha256;
  /** The last record that counts; all where it is left out. */
  readonly at?: Seq;
  /** What the caller sees of the owner's process; only it can look. */
  readonly look?: (owner: Owner) => OwnerLooks;
}

type Question = keyof Answers;
const questions: readonly Question[] = ["goal", "steps", "effects", "evidence", "budget", "active"];
type RestsOn = Readonly<Record<Question, number>>;

/** Whether an answer is another one after a record than before it. */
const changes: Readonly<Record<Question, (before: SessionState, after: SessionState) => boolean>> = {
  goal: (before, after) => before.submission !== after.submission,
  steps: (before, after) => before.leaves !== after.leaves && standings(before) !== standings(after),
  effects: (before, after) => before.effects !== after.effects || (after.unsettled.length > 0 && (before.epoch !== after.epoch || before.end !== after.end)),
  evidence: (before, after) => before.lastCheck !== after.lastCheck || before.receipt !== after.receipt || before.gaps !== after.gaps,
  budget: (before, after) => budgetGrounds(before).some((ground, index) => ground !== budgetGrounds(after)[index]),
  active: (before, after) => holding(before) !== holding(after),
};
const standings = ({ leaves }: SessionState): string => Object.values(leaves).map((leaf) => `${leaf.status} ${leaf.seq}`).join();
function budgetGrounds({ spending, open }: SessionState): readonly unknown[] {
  return [spending.iterations, spending.costUsd, spending.tokens, spending.runningMs, spending.reservations, spending.raised, open?.cycle === "build"];
}
function holding(state: SessionState): string | null {
  const holder = holderOf(state);
  return holder && `${holder.id} ${state.epoch} ${state.open?.eventId}`;
}

/** Folds the records and answers. A session without a goal has null for a goal and answers all the same. */
export function explain(entries: readonly FoldEntry[], asking: Asking): Explanation {
  let state = emptySession(asking.sessionId);
  let rests: RestsOn = { goal: 0, steps: 0, effects: 0, evidence: 0, budget: 0, active: 0 };
  let given: string | null = null;
  for (const entry of entries) {
    if (asking.at !== undefined && state.seq >= asking.at) break;
    const next = evolve(state, entry, asking.sha256);
    if (next.verdict.kind === "accepted") {
      rests = restsOn(rests, state, next.state);
      if (entry.parsed.kind === "record") given = givenBy(entry.parsed.record) ?? given;
    }
    state = next.state;
  }
  const holder = holderOf(state);
  const explanation = explainState(state, rests, (holder && asking.look?.(holder)) ?? "unknown");
  return given !== null && endedByPerson(state) ? { ...explanation, why: `${explanation.why} ${given}` } : explanation;
}

/** What a person gave as the reason for ending it. */
function givenBy({ type, data, actor }: LedgerRecord): string | null {
  const text = type === "cancel_requested" ? data.reason : type === "approval_decided" && data.decision === "REJECT" ? data.comment : "";
  return text.trim() === "" ? null : `${actor.id} gave as the reason: ${shortened(text)}`;
}
function endedByPerson({ end, cancel }: SessionState): boolean {
  return end === null ? cancel !== null : end.disposition === "cancelled" || end.reason === "approval_rejected";
}

function restsOn(rests: RestsOn, before: SessionState, after: SessionState): RestsOn {
  const changed = questions.filter((one) => before.seq === 0 || changes[one](before, after));
  return changed.length === 0 ? rests : { ...rests, ...Object.fromEntries(changed.map((one) => [one, after.seq])) };
}

function explainState(state: SessionState, seqs: RestsOn, owner: OwnerLooks): Explanation {
  const status = statusOf(state);
  const { submission, lastCheck } = state;
  const budget = budgetOf(state);
  return {
    sessionId: state.sessionId, asOf: state.seq, disposition: status.disposition, reason: status.reason,
    answers: {
      goal: {
        answer: submission && { text: submission.goal.goal, digest: submission.digest, check: submission.goal.check },
        seq: seqs.goal, text: goalText(state),
      },
      steps: { answer: status.leaves, seq: seqs.steps, text: stepsText(status) },
      effects: { answer: status.effects, seq: seqs.effects, text: effectsText(status) },
      evidence: {
        answer: lastCheck && {
          verdict: lastCheck.verdict, next_steps: lastCheck.next_steps as readonly Json[], evidence: lastCheck.evidence, revision: lastCheck.revision,
        },
        seq: seqs.evidence, text: evidenceText(state),
      },
      budget: { answer: budget, seq: seqs.budget, text: budgetText(budget) },
      active: { answer: status.active !== null, seq: seqs.active, text: activeText(status, owner) },
    },
    ...standstill(state, owner),
  };
}

function activeText(status: StatusView, owner: OwnerLooks): string {
  if (!status.active || !status.owner) return "no";
  const who = `${status.owner.role} ${status.owner.id}`;
  const again = status.attempt > 1 ? `, attempt ${status.attempt}` : "";
  const what = `${status.active} of iteration ${status.iteration}${again}, by ${who} in epoch ${status.epoch}`;
  return owner === "gone" ? `no: its process is gone; the next one goes on (${what})` : `yes: ${what}`;
}
