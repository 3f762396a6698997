/** What a person or program does to a session: one record on its ledger, and behind it what the fold then calls for. */
import type { EventId, SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { canonicalJson } from "@loopledger/shared/core/json";
import { isAnswered } from "@loopledger/shared/core/session/checkpoints";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import type { Verdict } from "@loopledger/shared/core/session/evolve";
import type { SessionState, VoidReason } from "@loopledger/shared/core/session/state";
import { type Draft, afterExpiry, appendAll, withDerived } from "@loopledger/shared/runtime";
import { patient } from "./patience.ts";
import { Problem, type ProblemCode } from "./problems.ts";
import { type Service, actorOf, openSession } from "./service.ts";

type ActType = "cancel_requested" | "pause_requested" | "resumed" | "guidance" | "budget_raised" | "checkpoint_requested" | "approval_decided" | "reconciled";
export type Act = { readonly [T in ActType]: Pick<Extract<Draft, { type: T }>, "type" | "data"> }[ActType];

/** Does it once: a repeat under the same `idempotencyKey`, or of what is so already, answers with the state as it is. Throws the problem of a refusal. */
export async function act(service: Service, id: string, { act: asked, idempotencyKey }: { act: Act; idempotencyKey: string | undefined }): Promise<SessionState> {
  const engine = patient(service.engine);
  const found = await openSession(service, id);
  // An answer that comes too late finds its request expired, also where no scheduler runs.
  const before = asked.type === "approval_decided" && !found.hold ? await afterExpiry(engine, found.sessionId) : found;
  if (before.hold) throw new Problem("held", `The session holds a record that this release does not know: ${before.hold.detail}.`);
  if (asked.type === "cancel_requested" && before.end?.disposition === "cancelled") return before;
  const eventId = idempotencyKey === undefined ? undefined : (`act-${engine.ids.sha256(`${id}\n${idempotencyKey}`).slice(0, 40)}` as EventId);
  const written = engine.author.write(before.sessionId, { ...asked, actor: actorOf(service) } as Draft, eventId === undefined ? {} : { eventId });
  const [verdict] = await appendAll(engine, before.sessionId, withDerived(engine, before, [written]));
  // It may have been judged in another state than the batch foresaw: what it calls for is then written here.
  await appendAll(engine, before.sessionId, withDerived(engine, await engine.folds.open(before.sessionId), []));
  const after = await engine.folds.open(before.sessionId);
  if (verdict?.kind === "accepted" || isSoAlready(asked, verdict, after)) {
    if (verdict?.kind !== "accepted" && eventId) await refuseOtherAct(service, { sessionId: before.sessionId, eventId, asked });
    return after;
  }
  throw refusalOf(asked, verdict, after);
}

function isSoAlready(asked: Act, verdict: Verdict | undefined, after: SessionState): boolean {
  if (verdict?.kind !== "void") return false;
  if (asked.type === "approval_decided" && verdict.reason === "after_end") return isAnswered(after, asked.data);
  return verdict.reason === "duplicate" || (asked.type === "cancel_requested" && after.end?.disposition === "cancelled");
}

/** The key was used for something else: the repeat is none. */
async function refuseOtherAct({ engine }: Service, { sessionId, eventId, asked }: { sessionId: SessionId; eventId: EventId; asked: Act }): Promise<void> {
  for (const entry of await engine.ledger.readSession(sessionId)) {
    const parsed = parseRecord(entry.value);
    if (parsed.kind !== "record" || parsed.record.eventId !== eventId) continue;
    if (parsed.record.type === asked.type && canonicalJson(parsed.record.data) === canonicalJson(asked.data)) return;
    throw new Problem("idempotency_conflict", "This Idempotency-Key was used for another request to this session.");
  }
}

const codes: Partial<Record<VoidReason, ProblemCode>> = {
  after_end: "after_end", not_owed: "not_owed", key_conflict: "key_conflict", forbidden: "forbidden", suspended: "suspended",
};

function refusalOf(asked: Act, verdict: Verdict | undefined, state: SessionState): Problem {
  if (verdict?.kind === "held") return new Problem("held", `The session holds a record that this release does not know: ${verdict.detail}.`);
  const reason = verdict?.kind === "void" ? verdict.reason : "malformed";
  return new Problem(codes[reason] ?? "refused", `${detailOf(asked, reason, state)} (void: ${reason})`);
}

function detailOf(asked: Act, reason: VoidReason, state: SessionState): string {
  const isExpired = asked.type === "approval_decided" && lookUp(state.checkpoints, asked.data.checkpoint)?.decision === "EXPIRED";
  if (reason === "after_end" && !isExpired) return `The session is ${state.end?.disposition.replace("_", " ") ?? "over"} since seq ${state.end?.seq ?? state.seq}; it takes no more of this.`;
  switch (asked.type) {
    case "approval_decided": return decisionDetail(asked.data.checkpoint, reason, state);
    case "resumed": return "There is nothing to resume: the session is not paused and waits for no handler, check or evidence.";
    case "checkpoint_requested": return `A decision is asked for already: ${state.pending.join(", ")}.`;
    case "reconciled": return "The effect is not unknown any more, its call window is not over, or another owner has claimed the session meanwhile.";
    case "cancel_requested": case "pause_requested": case "guidance": case "budget_raised": return "The ledger refused it.";
  }
}
function decisionDetail(checkpoint: string, reason: VoidReason, state: SessionState): string {
  const known = lookUp(state.checkpoints, checkpoint);
  if (known?.decision === "EXPIRED") return `Checkpoint ${checkpoint} expired before this answer.`;
  if (reason === "forbidden") return "Who asked for a decision may not give it; with four eyes neither may who submitted the goal.";
  if (known?.decision) return `Checkpoint ${checkpoint} was decided before: ${known.decision}. The first answer counts; this one is kept on the ledger, refused.`;
  return `What checkpoint ${checkpoint} asks for is not what was shown.`;
}
