/**
 * Whose turn is it? Of the processes that do the same work, one goes first with a session; the others leave it to that one for a moment.
 *
 * Every process reckons by itself, from the names of those that are there and from what they can run: for each session each name has a
 * weight, and of those that can run it the heaviest goes first. Who joins takes its share from all the others, who leaves gives its own to
 * all of them, and no other session moves.
 *
 * V1. It decides only who should try first. Two processes that know of different ones both try, and the ledger accepts one.
 * V2. Nobody waits for ever: what the first one does not take is taken by the second, then by the third.
 * V3. Who cannot hear of the others goes by what it heard last, and by itself alone where it has heard nothing.
 * V4. Who can run a session never waits for one that cannot; who cannot comes after all that can.
 */
import type { OwnerId, SessionId } from "../core/brand.ts";
import { murmur2 } from "../core/placement.ts";
import { type HandlerNames, handlersNamed } from "../core/session/handlers-named.ts";
import type { SessionState } from "../core/session/state.ts";

/** A process that does the same work, as a lease service tells of it. */
export interface Peer {
  readonly id: OwnerId;
  /** Marks of its handlers; null = it can run everything, or its work needs none. */
  readonly can: ReadonlySet<string> | null;
}
/** What is asked of the order: the session, and the marks of the handlers that it needs. */
export interface Turn {
  readonly sessionId: SessionId;
  readonly needs: readonly string[];
}

/** How many go before `self` with this session: 0 = its turn. */
export function rankOf(self: Peer, others: Iterable<Peer>, { sessionId, needs }: Turn): number {
  const able = canAll(self, needs);
  const own = weightOf(self.id, sessionId);
  let rank = 0;
  for (const other of others) {
    if (other.id === self.id) continue;
    const isAble = canAll(other, needs);
    if (isAble !== able) {
      if (isAble) rank++;
      continue;
    }
    const weight = weightOf(other.id, sessionId);
    if (weight > own || (weight === own && other.id > self.id)) rank++;
  }
  return rank;
}
function weightOf(owner: OwnerId, sessionId: SessionId): number {
  return murmur2(`${sessionId}/${owner}`) >>> 0;
}
function canAll({ can }: Peer, needs: readonly string[]): boolean {
  return can === null || needs.every((mark) => can.has(mark));
}

const marksOfGoals = new WeakMap<object, readonly string[]>();
/** What a process must have to run the session; nothing where its goal is not known. */
export function needsOf({ submission }: Pick<SessionState, "submission">): readonly string[] {
  if (submission === null) return [];
  const known = marksOfGoals.get(submission.goal) ?? marksOf(handlersNamed(submission.goal));
  marksOfGoals.set(submission.goal, known);
  return known;
}
/** A few characters for each handler. Two handlers that share a mark cost a moment's wait, by V2, and nothing else. */
function marksOf({ makers, checks, tools, gates }: HandlerNames): readonly string[] {
  const mark = (text: string): string => (murmur2(text) >>> 0).toString(36);
  const marks = (kind: string, names: readonly string[]): string[] => names.map((name) => mark(`${kind} ${name}`));
  return [...marks("maker", makers), ...marks("check", checks), ...marks("tool", tools), ...marks("gate", gates)];
}

/** The name under which a process is gathered with its peers: its id, and behind a space the marks of what it can run. */
export function memberOf(id: OwnerId, handlers: HandlerNames | null): string {
  return handlers === null ? id : `${id} ${[...new Set(marksOf(handlers))].sort().join(",")}`;
}
/** What such a name says. A name without marks is one of a process that can run everything. */
export function peerOf(member: string): Peer {
  const [id = "", marks] = member.split(" ");
  return { id: id as OwnerId, can: marks === undefined ? null : new Set(marks.split(",")) };
}
