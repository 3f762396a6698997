/** Why a session stands still and what to type next, as it must be typed from here. */
import type { SessionState } from "@loopledger/shared/core/session/state";
import { quoted } from "@loopledger/shared/core/shell-word";
import { type OwnerLooks, type Standstill, standstill } from "@loopledger/shared/core/session/standstill";
import { keptLine } from "../running/kept-commands.ts";
import type { CommandContext } from "../context.ts";

export function standingHere(context: CommandContext, state: SessionState, owner: OwnerLooks = "unknown"): Standstill {
  const { why, next } = standstill(state, owner);
  return { why, next: nextHere(context, state.sessionId, next) };
}

/** The next command; where only the line of a `run` goes on, the line that was typed, as far as this host has kept it. */
export function nextHere(context: CommandContext, sessionId: string, next: string): string {
  const kept = next.startsWith("loopledger run ") ? keptLine(context.dataFolder, sessionId) : null;
  if (kept === null) return context.hint(next);
  const command = context.hint(kept.command, kept.cwd);
  return kept.cwd === context.cwd ? command : `cd ${quoted(kept.cwd)} && ${command}`;
}
