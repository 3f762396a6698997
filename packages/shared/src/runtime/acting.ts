/** An act on a session: one record on its ledger, and behind it what the fold then calls for. */
import type { EventId, Seq, SessionId } from "../core/brand.ts";
import type { Actor } from "../core/events/envelope.ts";
import { type Act, isDone, isRepeat, type Refused, refusedBefore, refusedBy } from "../core/session/acts.ts";
import type { SessionState } from "../core/session/state.ts";
import { afterExpiry, appendAll, withDerived } from "./appends.ts";
import type { Draft } from "./author.ts";
import type { Engine } from "./engine.ts";

export interface Acting {
  readonly act: Act;
  readonly actor: Actor;
  /** The record's own id, where the same request has to be the same record. */
  readonly eventId?: EventId | undefined;
}
/** What became of an act. */
export interface Became {
  /** The record's seq; null where it does not count. */
  readonly seq: Seq | null;
  /** Why it does not count; null also where nothing had to be written. */
  readonly refused: Refused | null;
  /** The same was so before. */
  readonly repeated: boolean;
  /** The session after it. */
  readonly state: SessionState;
}

/** An answer that comes too late finds its request expired, also where no scheduler runs. A session on hold is left as it is. */
export async function takeAct(engine: Engine, sessionId: SessionId, { act, actor, eventId }: Acting): Promise<Became> {
  const found = await engine.folds.open(sessionId);
  const before = act.type === "approval_decided" && !found.hold ? await afterExpiry(engine, sessionId) : found;
  const refusedFirst = refusedBefore(before);
  if (refusedFirst) return { seq: null, refused: refusedFirst, repeated: false, state: before };
  if (isDone(act, before)) return { seq: null, refused: null, repeated: true, state: before };
  const written = engine.author.write(sessionId, { ...act, actor } as Draft, eventId === undefined ? {} : { eventId });
  const [verdict] = await appendAll(engine, sessionId, withDerived(engine, before, [written]));
  // It may have been judged in another state than the batch foresaw: what it calls for is then written here.
  await appendAll(engine, sessionId, withDerived(engine, await engine.folds.open(sessionId), []));
  const state = await engine.folds.open(sessionId);
  const refused = refusedBy(verdict ?? { kind: "void", reason: "malformed" });
  return { seq: verdict?.kind === "accepted" ? verdict.seq : null, refused, repeated: refused !== null && isRepeat(act, refused, state), state };
}
