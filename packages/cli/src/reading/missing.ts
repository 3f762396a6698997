/** What is said of things that are not there, with the nearest that are. */
import { CliError, UsageError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ListRow } from "./reader.ts";

/** The refusal, with the id that was probably meant. */
export async function nearestSession(refusal: CliError, sessionId: string, sessions: AsyncIterable<ListRow>): Promise<CliError> {
  const known: string[] = [];
  for await (const { view } of sessions) known.push(view.sessionId);
  const near = await nearestIds(sessionId, known);
  if (near.length === 0) return refusal;
  return new CliError(refusal.code, `${refusal.message} Did you mean ${near.join(", or ")}?`, { next: refusal.next, exitCode: refusal.exitCode });
}

/** At most three: those that begin so, then the one that is a slip of the pen away. */
export async function nearestIds(written: string, known: readonly string[]): Promise<readonly string[]> {
  const { nearestName } = await import("@loopledger/shared/core/nearest");
  const begins = written.length >= 3 ? known.filter((id) => id.startsWith(written) || written.startsWith(id)) : [];
  const slip = nearestName(written, known);
  return [...new Set([...(slip === null ? [] : [slip]), ...begins])].slice(0, 3);
}

export function noSuchCheckpoint(sessionId: string, checkpoint: string, known: readonly string[]): CliError {
  const there = known.length === 0 ? "It has asked for no decision." : `It has ${known.join(", ")}.`;
  return new UsageError(`Session ${sessionId} has no checkpoint ${checkpoint}. ${there}`, {
    code: "unknown_checkpoint", next: "`loopledger approvals` lists what waits for a decision.",
  });
}

export function seqAhead(sessionId: string, { asked, is }: { readonly asked: number; readonly is: number }): CliError {
  return new CliError("seq_ahead", `Session ${sessionId} has not come to seq ${asked}: it is at ${is}.`, {
    next: "Ask again later, or for a lower seq.", exitCode: exitCodes.running,
  });
}
