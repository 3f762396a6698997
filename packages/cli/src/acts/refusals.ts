/** A refused act as an error of the command: why, and what to type instead. */
import { quoted } from "@loopledger/shared/core/shell-word";
import { type Act, type Refusal, type Refused, refusalOf } from "@loopledger/shared/core/session/acts";
import type { SessionState } from "@loopledger/shared/core/session/state";
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";

export function refuse(act: Act, refused: Refused, at: { readonly state: SessionState; readonly actor: Actor }): CliError {
  const { ground, message } = refusalOf(act, refused, at);
  return new CliError(refused.reason, message, { next: nextStep(ground, act, at.state), exitCode: exitCodes.failed });
}

function nextStep(ground: Refusal["ground"], act: Act, { sessionId }: SessionState): string {
  const id = quoted(sessionId);
  switch (ground) {
    case "held": return "Use the release that wrote it.";
    case "expired": case "nothing_to_resume": case "not_unknown": return `loopledger explain ${id}`;
    case "over": return "Submit a goal of its own for what is left to do.";
    case "handed_off": return `\`loopledger resume ${id}\` goes on with it.`;
    case "over_already": return `\`loopledger explain ${id}\` shows what became of it.`;
    case "handed_off_already": return `It stays as it is unless somebody resumes it. \`loopledger explain ${id}\` shows why it stopped.`;
    case "asked_oneself": case "four_eyes": return "Let another person decide.";
    case "decided": case "not_shown": case "decision_refused":
      return `loopledger approvals show ${id} ${quoted(act.type === "approval_decided" ? act.data.checkpoint : "")}`;
    case "asked_for": return "loopledger approvals";
    case "claimed": return "Type the same again: it then names the new epoch.";
    case "refused": return `loopledger events ${id} --void`;
  }
}
