/** Why the fold refused an act, as a sentence that says what to do instead. The record stays on the ledger, refused. */
import type { Actor } from "@loopledger/shared/core/events/envelope";
import { quoted } from "@loopledger/shared/core/shell-word";
import { lookUp } from "@loopledger/shared/core/session/persistent-map";
import type { SessionState, VoidReason } from "@loopledger/shared/core/session/state";
import { CliError } from "../errors.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ActDraft } from "./draft.ts";

export interface Refused {
  readonly reason: VoidReason | "held";
  readonly detail: string;
}
interface Circumstances { readonly state: SessionState; readonly actor: Actor }
interface Said { readonly message: string; readonly next: string }

export function refusalOf(draft: ActDraft, refused: Refused, at: Circumstances): CliError {
  const { message, next } = sayingFor(draft, refused, at);
  return new CliError(refused.reason, `${message} (void: ${refused.reason})`, { next, exitCode: exitCodes.failed });
}

function sayingFor(draft: ActDraft, refused: Refused, { state, actor }: Circumstances): Said {
  const id = quoted(state.sessionId);
  if (refused.reason === "held") {
    return { message: `The session holds a record that this release does not know: ${refused.detail}.`, next: "Use the release that wrote it." };
  }
  const late = draft.type === "approval_decided" ? expired(draft.data, state, id) : null;
  if (late) return late;
  if (refused.reason === "after_end") return draft.type === "cancel_requested" ? nothingToCancel(state, id) : afterEnd(state, id);
  switch (draft.type) {
    case "approval_decided": return decisionRefused(draft.data, refused.reason, { state, actor });
    case "resumed": return { message: "There is nothing to resume: the session is not paused and waits for no handler, check or evidence.", next: `loopledger explain ${id}` };
    case "checkpoint_requested":
      return { message: `A decision is asked for already: ${state.pending.join(", ")}.`, next: "loopledger approvals" };
    case "reconciled": return reconciliationRefused(refused.reason, id);
    default: return { message: `The ledger refused it: ${meanings[refused.reason]}.`, next: `loopledger events ${id} --void` };
  }
}

/** What has ended is worked on by nobody. */
function nothingToCancel(state: SessionState, id: string): Said {
  return {
    message: `The session is ${endOf(state)}: nobody works on it any more, and there is nothing to cancel.`,
    next: reopens(state) ? `It stays as it is unless somebody resumes it. \`loopledger explain ${id}\` shows why it stopped.` : `\`loopledger explain ${id}\` shows what became of it.`,
  };
}

function afterEnd(state: SessionState, id: string): Said {
  return {
    message: `The session is ${endOf(state)}: it takes no more of this.`,
    next: reopens(state) ? `\`loopledger resume ${id}\` goes on with it.` : "Submit a goal of its own for what is left to do.",
  };
}

function endOf({ end, seq }: SessionState): string {
  const standing = end ? `${end.disposition.replaceAll("_", " ")}${end.reason === null || end.reason === end.disposition ? "" : ` (${end.reason})`}` : "over";
  return `${standing} since seq ${end?.seq ?? seq}`;
}
function reopens({ end }: SessionState): boolean {
  return end?.disposition === "handed_off" && end.reason !== "approval_rejected";
}

type Decision = Extract<ActDraft, { type: "approval_decided" }>["data"];
function expired(data: Decision, state: SessionState, id: string): Said | null {
  if (lookUp(state.checkpoints, data.checkpoint)?.decision !== "EXPIRED") return null;
  return { message: `Checkpoint ${data.checkpoint} expired before this answer: nobody answered in time.`, next: `loopledger explain ${id}` };
}
function decisionRefused(data: Decision, reason: VoidReason, { state, actor }: Circumstances): Said {
  const id = quoted(state.sessionId);
  const known = lookUp(state.checkpoints, data.checkpoint);
  const again = `loopledger approvals show ${id} ${quoted(data.checkpoint)}`;
  if (reason === "forbidden") {
    const asked = known?.requestedBy === actor.id || known?.calledBy === actor.id;
    return {
      message: asked ? `${actor.id} asked for this decision and may not give it.` : `The goal wants four eyes: ${actor.id} submitted it and may not decide.`,
      next: "Let another person decide.",
    };
  }
  if (known?.decision) return { message: `Checkpoint ${data.checkpoint} was decided before: ${known.decision}. The first answer counts.`, next: again };
  if (reason === "key_conflict") return { message: `What checkpoint ${data.checkpoint} asks for is not what was shown to you.`, next: again };
  return { message: `The ledger refused the answer: ${meanings[reason]}.`, next: again };
}

function reconciliationRefused(reason: VoidReason, id: string): Said {
  if (reason === "stale_epoch") return { message: "Another owner claimed the session meanwhile.", next: "Type the same again: it then names the new epoch." };
  return { message: "This effect is not unknown any more, or its call window is not over.", next: `loopledger explain ${id}` };
}

const meanings: Readonly<Record<VoidReason, string>> = {
  stale_epoch: "another owner has claimed the session since", rival: "another claim came first", duplicate: "the same was done before",
  gap: "a record before it is missing", malformed: "the record does not fit its form", forbidden: "this principal may not do it",
  not_owed: "nothing of the kind is asked for", wrong_cycle: "it does not fit the cycle that is open", not_armed: "no such timer is armed",
  suspended: "the session is suspended", after_end: "the session has ended", key_conflict: "the same key stands for something else",
};
