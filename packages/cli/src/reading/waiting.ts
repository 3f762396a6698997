/** Waiting for a session: until it comes to a seq, or to rest. It follows the ledger; it never asks again and again. */
import type { StatusView } from "@loopledger/shared/core/session/status";
import { isAtRest } from "../exit-codes.ts";
import { seqAhead } from "./missing.ts";
import type { Reader } from "./reader.ts";

/** How long `--at-least` waits for a seq. */
const aMomentMs = 2_000;

/** Throws `seq_ahead` where the session does not come to this seq within a moment. */
export async function waitForSeq(reader: Reader, sessionId: string, seq: number): Promise<StatusView> {
  const now = await reader.status(sessionId);
  if (now.asOf >= seq) return now;
  const seen = await watchUntil(reader, sessionId, { timeoutMs: aMomentMs, until: (view) => view.asOf >= seq });
  if (seen.reached) return seen.view;
  throw seqAhead(sessionId, { asked: seq, is: seen.view.asOf });
}

export interface Watching {
  /** Null = no end. */
  readonly timeoutMs: number | null;
  readonly until: (view: StatusView) => boolean;
  /** Told of every status that does not fulfil the condition. */
  readonly onward?: (view: StatusView) => void;
}
export interface Watched {
  readonly view: StatusView;
  readonly reached: boolean;
}

/** The first status that fulfils the condition, or the last one before the time was over. */
export async function watchUntil(reader: Reader, sessionId: string, watching: Watching): Promise<Watched> {
  const signal = watching.timeoutMs === null ? new AbortController().signal : AbortSignal.timeout(Math.max(1, watching.timeoutMs));
  let last: StatusView | null = null;
  for await (const view of reader.watch(sessionId, signal)) {
    if (watching.until(view)) return { view, reached: true };
    last = view;
    watching.onward?.(view);
  }
  return { view: last ?? (await reader.status(sessionId)), reached: false };
}

/** Until it has ended or goes on only after somebody has acted. */
export const untilAtRest = (view: StatusView): boolean => isAtRest(view);
