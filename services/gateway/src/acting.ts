/** What a person or program does to a session, and what of it a repeat and a refusal are answered with. */
import type { EventId, SessionId } from "@loopledger/shared/core/brand";
import { parseRecord } from "@loopledger/shared/core/events/parse";
import { canonicalJson } from "@loopledger/shared/core/json";
import { type Act, type Refused, refusalOf } from "@loopledger/shared/core/session/acts";
import type { SessionState } from "@loopledger/shared/core/session/state";
import { takeAct } from "@loopledger/shared/runtime";
import { patient } from "./patience.ts";
import { Problem, type ProblemCode } from "./problems.ts";
import { type Service, actorOf, openSession } from "./service.ts";

/** Does it once: a repeat under the same `idempotencyKey`, or of what is so already, answers with the state as it is. Throws the problem of a refusal. */
export async function act(service: Service, id: string, { act: asked, idempotencyKey }: { act: Act; idempotencyKey: string | undefined }): Promise<SessionState> {
  const engine = patient(service.engine);
  const { sessionId } = await openSession(service, id);
  const eventId = idempotencyKey === undefined ? undefined : (`act-${engine.ids.sha256(`${id}\n${idempotencyKey}`).slice(0, 40)}` as EventId);
  const actor = actorOf(service);
  const { refused, repeated, state } = await takeAct(engine, sessionId, { act: asked, actor, eventId });
  if (refused && !repeated) throw new Problem(codes[refused.reason] ?? "refused", refusalOf(asked, refused, { state, actor }).message);
  if (refused && eventId) await refuseOtherAct(service, { sessionId, eventId, asked });
  return state;
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

const codes: Partial<Record<Refused["reason"], ProblemCode>> = {
  held: "held", after_end: "after_end", not_owed: "not_owed", key_conflict: "key_conflict", forbidden: "forbidden", suspended: "suspended",
};
