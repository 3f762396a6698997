/** The cursor of a list of views: the time and session of the last row of a page, so every store of views gives out the same. */
import type { SessionId } from "./brand.ts";
import { LoopledgerError } from "./errors.ts";

export interface ViewCursor {
  /** Milliseconds. */
  readonly at: number;
  readonly sessionId: SessionId;
}

export function formatViewCursor({ at, sessionId }: ViewCursor): string {
  return `${at}~${sessionId}`;
}

/** Throws `invalid_cursor`. It judges no id: a key that is no session id has a view where a newer release may know what it is, and ends a page like any other. */
export function parseViewCursor(text: string): ViewCursor {
  const parts = /^(\d{1,15})~(.+)$/s.exec(text);
  if (parts === null) throw new LoopledgerError("invalid_cursor", "This is no cursor of a list of sessions.");
  return { at: Number(parts[1]), sessionId: parts[2] as SessionId };
}
