/**
 * Why a session stands still, and the next command to type. One sentence for each place where the fold can stop.
 * It never says that something happened which no record says.
 */
import { cutText } from "../json.ts";
import { exhaustedFor } from "../budget/budget.ts";
import type { Reason } from "../events/fields.ts";
import { quoted } from "../shell-word.ts";
import { isOfRun } from "./handlers-named.ts";
import { isoOf } from "./iso.ts";
import { owedDispatch } from "./owed.ts";
import { endsUnknown } from "./endings.ts";
import { lookUp } from "./persistent-map.ts";
import { isFencedOff, windowOverAt } from "./rules/effects.ts";
import { amount, lastLineOf, shortened, whyIn } from "./explain-text.ts";
import { type End, type SessionState, holderOf } from "./state.ts";
import { standingOf } from "./status.ts";

/** What a look at the owner's process said, where anybody could look. */
export type OwnerLooks = "live" | "gone" | "unknown";
export interface Standstill {
  readonly why: string;
  readonly next: string;
}

export function standstill(state: SessionState, owner: OwnerLooks): Standstill {
  const id = quoted(state.sessionId);
  if (!state.submission) return { why: "No goal was submitted under this id.", next: `loopledger submit FILE --id ${id}` };
  if (state.hold) {
    return {
      why: `It holds a record that this release does not know (${state.hold.detail}); a newer release goes on with it.`,
      next: `loopledger events ${id} --after ${state.seq} --void`,
    };
  }
  if (state.end) return ended(state, state.end, id);
  const standing = standingOf(state);
  return standing.disposition === "waiting" && standing.reason ? waits(state, standing.reason, id) : goesOn(state, owner, id);
}

function ended(state: SessionState, end: End, id: string): Standstill {
  switch (end.disposition) {
    case "done":
      if (end.reason === "no_mutation_owed") {
        return { why: "It is done: the check was green before any work, so none was owed.", next: `loopledger events ${id}` };
      }
      return { why: `It is done: the check passed, and the receipt stands at seq ${state.receipt?.seq ?? end.seq}.`, next: `loopledger verify ${id}` };
    case "cancelled":
      return { why: "It was cancelled, and a cancelled session stays so.", next: `loopledger events ${id}` };
    case "failed":
      if (endsUnknown(end)) return unknownOutcome(state, id);
      return { why: "Records that were acknowledged are gone from the ledger; it must be restored from a copy.", next: "loopledger doctor" };
    case "handed_off":
      return handedOff(state, end, id);
  }
}

/** A call whose outcome nobody knows: named one by one, with the time from which "did not happen" can be accepted. */
function unknownOutcome(state: SessionState, id: string): Standstill {
  const open = state.unsettled.flatMap((key) => lookUp(state.effects, key) ?? []);
  const first = open[0];
  const named = open.map((effect) => {
    const over = isoOf(windowOverAt(effect, state.lastClaimAt));
    const fenced = isFencedOff(effect, state.epoch) ? ", and its target refuses a late call" : "";
    return `${effect.tool} under the key ${effect.key} (asked for at seq ${effect.seq}; a late call can arrive until ${over}${fenced})`;
  });
  return {
    why: `${count(open.length, "call was", "calls were")} asked for and nobody knows the outcome: ${named.join("; ")}. No work is done before it is settled.`,
    // What somebody saw is theirs to say: the word in its place is refused, so that the line pasted as it stands settles nothing.
    next: `loopledger reconcile ${id} ${quoted(first?.key ?? "KEY")} --happened --evidence TEXT  # or: --did-not-happen --evidence TEXT`,
  };
}

const handOffs: Readonly<Partial<Record<Reason, string>>> = {
  contradictory_verdict: "The check contradicted itself: PASS with next steps, or FAIL without.",
  check_unavailable: "The check could not be run, or came to no verdict, again and again.",
  no_progress: "The same failure came back until the breaker stopped it.",
  deterministic_error: "The maker failed in a way that trying again does not mend, or in the same way until the breaker stopped it.",
  retries_exhausted: "A transient failure outlasted all retries.",
  takeover_limit: "One owner after another died in this cycle without getting anything done.",
  approval_rejected: "A person rejected the proposed action, and that is final.",
  approval_expired: "A decision was asked for and nobody gave it in time.",
};
function handedOff(state: SessionState, end: End, id: string): Standstill {
  const detail = end.error ?? lastWords(state, end.reason);
  const what = howOften(state, end) ?? handOffs[end.reason ?? "no_progress"] ?? "It was handed off.";
  const why = `${what}${detail ? ` (${cutText(detail, 200)})` : ""}`;
  if (end.reason === "approval_rejected") return { why, next: "loopledger submit FILE --id NEW-ID" };
  return { why, next: `loopledger resume ${id}` };
}

/** How often the same failure came back, where the breaker stopped it; null where something else did. */
function howOften({ failures }: SessionState, { reason, error }: End): string | null {
  if (error !== null || (reason !== "no_progress" && reason !== "deterministic_error")) return null;
  const [what, window] = reason === "no_progress" ? ["The same failure came back", failures.check] : ["The maker failed in the same way", failures.build];
  const last = window.at(-1);
  const times = window.length - 1 - window.findLastIndex((one) => one !== last);
  if (times > 1) return `${what} ${times} times in a row, and there the breaker stops (policy.breaker.same).`;
  return window.length > 3 ? `Two failures take turns, ${reason === "no_progress" ? "A, B, A, B" : "of the maker, A, B, A, B"}: it gets no further.` : null;
}

/** What the failure that led to the hand-off said of itself. */
function lastWords({ failures, lastCheck }: SessionState, reason: Reason | null): string | null {
  const [step] = lastCheck?.next_steps ?? [];
  switch (reason) {
    case "deterministic_error": case "retries_exhausted": return failures.message ?? failures.last;
    case "no_progress": return lastLineOf(lastCheck?.evidence ?? null) ?? (step === undefined ? failures.last : shortened(typeof step === "string" ? step : step.goal.goal));
    case "check_unavailable": return whyIn(lastCheck?.evidence ?? null);
    default: return null;
  }
}

function waits(state: SessionState, reason: Reason, id: string): Standstill {
  switch (reason) {
    case "approval": return waitsForDecision(state, id);
    case "paused": return { why: "It is paused.", next: `loopledger resume ${id}` };
    case "children": {
      const open = Object.values(state.children).filter((child) => child.open).map((child) => child.id);
      return { why: `It waits for ${count(open.length, "child", "children")}: ${open.join(", ")}.`, next: `loopledger explain ${quoted(open[0] ?? "")}` };
    }
    case "retry": return waitsForTimer(state, id);
    case "budget_exhausted": return waitsForBudget(state, id);
    case "handler_missing":
      return suspended(state, "Who claimed it has no such handler in its configuration; add it there first, then resume; where its name is wrong, cancel this and submit it anew", `loopledger resume ${id}`);
    case "evidence_missing": return suspended(state, "A payload that it needs is missing from the blob store", `loopledger resume ${id}`);
    case "check_changed":
      return suspended(state, "The check is another one than the one that was pinned; put the original back and resume, or accept this one", `loopledger resume ${id}  # or, to accept this one: with --accept-check`);
    default: return { why: `It waits (${reason}).`, next: `loopledger status ${id}` };
  }
}

function suspended(state: SessionState, what: string, next: string): Standstill {
  const detail = state.suspension?.error;
  return { why: `${what}${detail ? `: ${detail}` : ""}.`, next };
}

function waitsForDecision(state: SessionState, id: string): Standstill {
  const checkpoint = state.pending.map((one) => lookUp(state.checkpoints, one)).find((one) => one?.request);
  if (!checkpoint) return { why: "A decision is called for; its request has not been written.", next: onward(state, id) };
  const expires = checkpoint.expiresAt === null ? "it waits without an end" : `it expires at ${isoOf(checkpoint.expiresAt)}`;
  return {
    why: `A person must decide at ${checkpoint.id} (asked for at seq ${checkpoint.seq}, ${checkpoint.trigger}); ${expires}.`,
    next: `loopledger approvals show ${id} ${quoted(checkpoint.id)}`,
  };
}

function waitsForTimer(state: SessionState, id: string): Standstill {
  const timer = state.timers.find((one) => one.kind !== "approval");
  const due = timer ? isoOf(timer.dueAt) : "soon";
  const error = state.open?.lastError;
  const what = timer?.kind === "check" ? "The check could not be judged; it runs again" : "A transient failure is tried again";
  return { why: `${what} at ${due}${error ? ` (${cutText(error, 200)})` : ""}.`, next: `loopledger wait ${id}` };
}

function waitsForBudget(state: SessionState, id: string): Standstill {
  if (state.suspension) {
    const wanted = state.suspension.detail as { readonly costUsd?: number; readonly tokens?: number } | null;
    const raise = wanted?.costUsd === undefined ? `--tokens +${wanted?.tokens ?? 50_000}` : `--cost +${wanted.costUsd}`;
    return { why: `${state.suspension.error ?? "A reservation does not fit into its budget"}; what is done so far is kept.`, next: `loopledger budget ${id} ${raise}` };
  }
  const used = exhaustedFor(state, owedDispatch(state)?.cycle ?? "build") ?? "iterations";
  const raise = { iterations: "--iterations +5", costUsd: "--cost +1", tokens: "--tokens +50000", wallSeconds: "--wall-seconds +3600" }[used];
  const name = { iterations: "iterations", costUsd: "cost", tokens: "tokens", wallSeconds: "running time" }[used];
  const spent = { iterations: state.spending.iterations, costUsd: state.spending.costUsd, tokens: state.spending.tokens, wallSeconds: state.spending.runningMs / 1000 }[used];
  return { why: `Its budget of ${name} is used up (${amount(spent)} spent); what is done so far is kept.`, next: `loopledger budget ${id} ${raise}` };
}

function goesOn(state: SessionState, owner: OwnerLooks, id: string): Standstill {
  const holder = holderOf(state);
  const unsettled = state.unsettled.length > 0 ? ` ${count(state.unsettled.length, "call has", "calls have")} no outcome so far.` : "";
  const ending = state.cancel ? " A cancel takes effect as soon as no call is open." : state.pause ? " A pause takes effect after this cycle." : "";
  if (state.open && holder && owner !== "gone") {
    const what = `${state.open.cycle} of iteration ${state.open.iteration}`;
    return { why: `It does not stand still: ${what} is under way.${unsettled}${ending}`, next: `loopledger logs ${id} --follow` };
  }
  if (state.open) {
    const what = holder ? "The process that held it is gone" : "Nobody has claimed it";
    return { why: `${what}: ${state.open.cycle} of iteration ${state.open.iteration} is open.${unsettled}${ending} ${byItself(state, "takes it over")}`, next: onward(state, id) };
  }
  return { why: `The next cycle is owed and nobody has dispatched it.${ending} ${byItself(state, "does so")}`, next: onward(state, id) };
}

function byItself(state: SessionState, what: string): string {
  return isOfRun(state) ? "Its commands were typed: the same `run` line again goes on with it." : `A serving process that has its handlers ${what} by itself.`;
}
function onward(state: SessionState, id: string): string {
  return isOfRun(state) ? `loopledger run GOAL --maker COMMAND --check COMMAND --id ${id}` : `loopledger advance ${id}`;
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
