/** Ids that anybody can recompute: whoever writes a derived record writes the same one. */
import type { EventId, SessionId, Sha256 } from "../brand.ts";

/** `hash(sessionId, cause.eventId, what)`: one accepted record a cause and purpose, however many write it. */
export function derivedId(parts: { sessionId: SessionId; cause: EventId; what: string }, sha256: Sha256): EventId {
  return sha256(`${parts.sessionId}\n${parts.cause}\n${parts.what}`) as EventId;
}
