/**
 * A checkpoint as people and programs see it, and the request for a review as a text for a chat message or an issue comment.
 * It shows what a decision is bound to: the proposed action and its digest. It decides nothing.
 */
import type { LogTime, Sha256 } from "../brand.ts";
import type { CheckpointTrigger } from "../events/approval-requested.ts";
import { type Json, type JsonObject, canonicalJson, digestOf, cutWithMark } from "../json.ts";
import { quoted } from "../shell-word.ts";
import { budgetText, effectsText, evidenceText, stepsText } from "./explain-text.ts";
import { isoOf } from "./iso.ts";
import { lookUp, values } from "./persistent-map.ts";
import type { Checkpoint, SessionState } from "./state.ts";
import { type StatusView, statusOf } from "./status.ts";

/** `expired`: nobody answered in time. `withdrawn`: the session ended before anybody did. */
export type CheckpointStanding = "pending" | "decided" | "expired" | "withdrawn";
export interface CheckpointView {
  readonly sessionId: string;
  readonly checkpoint: string;
  readonly standing: CheckpointStanding;
  readonly trigger: CheckpointTrigger;
  readonly action: Json;
  /** What an answer must name, so that what was shown is what is decided. */
  readonly digest: string;
  readonly requestedBy: string;
  readonly since: string;
  readonly expires: string | null;
  readonly decision: string | null;
  readonly seq: number;
}
interface Looking { readonly now: LogTime; readonly sha256: Sha256 }

/** A checkpoint whose request is on the ledger; null where there is none of that id. */
export function checkpointView(state: SessionState, id: string, looking: Looking): CheckpointView | null {
  const checkpoint = lookUp(state.checkpoints, id);
  if (!checkpoint?.request) return null;
  return {
    sessionId: state.sessionId, checkpoint: id, standing: standingOf(state, checkpoint, looking.now), trigger: checkpoint.trigger,
    action: shownAction(checkpoint, looking.sha256), digest: checkpoint.digest, requestedBy: checkpoint.calledBy ?? checkpoint.requestedBy,
    since: isoOf(checkpoint.since), expires: checkpoint.expiresAt === null ? null : isoOf(checkpoint.expiresAt),
    decision: checkpoint.decision === "EXPIRED" ? null : checkpoint.decision, seq: checkpoint.seq,
  };
}

/** All of a session's checkpoints, oldest request first. */
export function checkpointViews(state: SessionState, looking: Looking): CheckpointView[] {
  return values(state.checkpoints).flatMap((one) => checkpointView(state, one.id, looking) ?? []).sort((a, b) => a.seq - b.seq);
}

/** One that is past its time reads as expired from that moment on, also before the record that says so. */
function standingOf(state: SessionState, checkpoint: Checkpoint, now: LogTime): CheckpointStanding {
  if (checkpoint.decision === "EXPIRED") return "expired";
  if (checkpoint.decision !== null) return "decided";
  if (!state.pending.includes(checkpoint.id)) return "withdrawn";
  return checkpoint.expiresAt !== null && checkpoint.expiresAt <= now ? "expired" : "pending";
}

/** The action as it was proposed: the digest of a tool call's arguments, which the fold adds, is left out again. */
function shownAction({ action, digest }: Checkpoint, sha256: Sha256): Json {
  if (action === null || typeof action !== "object" || Array.isArray(action)) return action;
  const { argsDigest: _, ...proposed } = action as JsonObject;
  return digestOf(proposed, sha256) === digest ? proposed : action;
}

/** The request for a review in markdown: what is asked, by whom, since when, and how the session stands. */
export function reviewRequest(state: SessionState, view: CheckpointView): string {
  const status = statusOf(state);
  const [id, checkpoint] = [quoted(view.sessionId), quoted(view.checkpoint)];
  const decide = view.standing === "pending"
    ? ["", "## Decide", "", ...["approve", "reject", "retry"].map((word) => `    loopledger ${word} ${id} ${checkpoint} --comment '…'`), `    loopledger modify ${id} ${checkpoint} --action '…' --comment '…'`]
    : [];
  return [
    `# Review requested: ${oneLine(status.goal?.text ?? view.sessionId)}`, "",
    `- **Checkpoint:** \`${view.checkpoint}\` of session \`${view.sessionId}\``, `- **Triggered by:** ${view.trigger}, requested by ${view.requestedBy}`,
    `- **Time:** ${view.since}${view.expires === null ? "" : `, expires ${view.expires}`}`, `- **Standing:** ${view.standing}${view.decision === null ? "" : ` (${view.decision})`}`,
    `- **Digest:** \`${view.digest}\``, "",
    "## Proposed action", "", ...fenced(canonicalJson(view.action)), "",
    "## State", "", ...stateLines(state, status), ...decide, "",
  ].join("\n");
}

function stateLines(state: SessionState, status: StatusView): string[] {
  const failures = [...state.failures.build, ...state.failures.check];
  return [
    `- **Iteration:** ${status.iteration}`, `- **Status:** ${status.disposition}${status.reason === null ? "" : ` (${status.reason})`}`,
    `- **Failures:** ${failures.length === 0 ? "none since the last progress" : failures.map(oneLine).join("; ")}`,
    `- **Plan:** ${oneLine(status.task ?? "nothing is owed")} (${stepsText(status)})`, `- **Effects:** ${effectsText(status)}`,
    `- **Evidence:** ${oneLine(evidenceText(state))}`, `- **Budget:** ${budgetText(status.budget) || "no limits"}`,
  ];
}

/** Text of others stays one line, so that it cannot pass for a heading of ours, and steers no terminal. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return cutWithMark(line, 300, "...");
}
/** A fence longer than any run of backticks inside. */
function fenced(text: string): string[] {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return [`${fence}json`, text, fence];
}
