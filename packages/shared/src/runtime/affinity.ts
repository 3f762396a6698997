/**
 * Whose turn is it? Of the processes that do the same work, one goes first with a session; the others leave it to that one for a moment.
 *
 * Every process reckons by itself, from the names of those that are there: for each session each name has a weight, and the
 * heaviest goes first. Who joins takes its share from all the others, who leaves gives its own to all of them, and no other session
 * moves.
 *
 * V1. It decides only who should try first. Two processes that know of different ones both try, and the ledger accepts one.
 * V2. Nobody waits for ever: what the first one does not take is taken by the second, then by the third.
 * V3. Who cannot hear of the others goes by what it heard last, and by itself alone where it has heard nothing.
 */
import type { OwnerId, SessionId } from "../core/brand.ts";
import { murmur2 } from "../core/placement.ts";

/** How many go before `self` with this session: 0 = its turn. */
export function rankOf(self: OwnerId, others: readonly OwnerId[], sessionId: SessionId): number {
  const own = weightOf(self, sessionId);
  let rank = 0;
  for (const other of others) {
    if (other === self) continue;
    const weight = weightOf(other, sessionId);
    if (weight > own || (weight === own && other > self)) rank++;
  }
  return rank;
}

function weightOf(owner: OwnerId, sessionId: SessionId): number {
  return murmur2(`${sessionId}/${owner}`) >>> 0;
}
