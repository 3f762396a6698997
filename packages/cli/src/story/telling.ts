/** Records as a person enjoys reading them: one line each, what happened first. Pure. */
import { stripVTControlCharacters } from "node:util";
import type { LedgerRecord } from "@loopledger/shared/core/events/envelope";
import type { NextStep } from "@loopledger/shared/core/events/check";
import { type Json, cutWithMark } from "@loopledger/shared/core/json";
import { couldNotStart, tellingLineOf, whyIn } from "@loopledger/shared/core/session/explain-text";
import type { VoidReason } from "@loopledger/shared/core/session/state";
import type { Style } from "../printing.ts";

export interface Told {
  readonly mark: string;
  readonly style: Style;
  /** One word for what happened. */
  readonly what: string;
  readonly text: string;
}
type Teller = { readonly [T in LedgerRecord["type"]]?: (record: Extract<LedgerRecord, { type: T }>) => Told };

const told = (mark: string, style: Style, [what, text]: readonly [string, string]): Told => ({ mark, style, what, text });

const tellers: Teller = {
  goal_submitted: ({ data }) => told("◆", "bold", ["goal", oneLine(data.goal.goal)]),
  dispatched: ({ data }) => (data.cycle === "build"
    ? told("→", "cyan", ["build", `iteration ${data.iteration}: ${oneLine(data.task)}`])
    : told("→", "cyan", ["check", data.iteration === 0 ? "before any work: is there something to do?" : `is iteration ${data.iteration} right?`])),
  claimed: ({ data, epoch }) => told("○", "dim", ["claim", `process ${data.host.pid} takes it (epoch ${epoch})`]),
  tool_requested: ({ data }) => told("⚒", "magenta", ["tool", `${data.tool} ${brief(data.args)} under the key ${data.key}`]),
  tool_result: ({ data }) => told(data.outcome === "confirmed" ? "✓" : "✗", "magenta", ["effect", `${data.outcome} ${brief(data.result)}`]),
  reconciled: ({ data }) => told("≡", "magenta", ["settled", `${data.key}: ${data.outcome}`]),
  grounding: ({ data }) => told("◎", data.outcome === "observed" || data.outcome === "observed_empty" ? "dim" : "yellow", ["seen", `${oneLine(data.scope)}: ${data.outcome.replaceAll("_", " ")}, ${counted(data.items, "item")}`]),
  step: ({ data }) => told("·", "dim", ["step", data.name]),
  model: ({ data }) => told("·", "dim", ["model", `${data.provider} ${data.model}${usageText(data.usage)}`]),
  built: ({ data }) => told("■", "blue", ["built", `${oneLine(data.summary) || "without a word"}${usageText(data.usage)}`]),
  cycle_failed: ({ data }) => told("✗", "red", ["failed", `${data.code}: ${oneLine(data.message)}`]),
  handed_back: ({ data }) => told("○", "dim", ["let go", data.why]),
  check: ({ data }) => {
    if (data.verdict === "PASS") return told("✓", "green", ["PASS", "the check is green"]);
    const why = whyIn(data.evidence);
    if (couldNotStart(data)) return told("?", "yellow", ["not run", `${oneLine(why ?? "")}; before any work that counts as red: the work may make what it lacks`]);
    if (data.verdict === "FAIL") return told("✗", "yellow", ["FAIL", (why && oneLine(why)) ?? lastOutput(data.evidence) ?? nextStepText(data.next_steps)]);
    return told("?", "red", ["unclear", (why && oneLine(why)) ?? lastOutput(data.evidence) ?? "the check gave no verdict"]);
  },
  retry: ({ data }) => told("↻", "yellow", ["retry", `${data.operation}, try ${data.attempt} in ${seconds(data.delay_seconds)}: ${oneLine(data.error)}`]),
  timer_fired: ({ data }) => told("↻", "dim", ["timer", `${data.kind} is due`]),
  approval_requested: ({ data }) => told("✋", "yellow", ["decide", `a person decides at ${data.checkpoint} (${data.trigger.replaceAll("_", " ")}) ${brief(data.action)}`]),
  approval_decided: ({ data, actor }) => told("✋", "green", [data.decision.toLowerCase(), `${actor.id} at ${data.checkpoint}${data.comment ? `: ${oneLine(data.comment)}` : ""}`]),
  pause_requested: ({ actor }) => told("‖", "yellow", ["pause", `asked for by ${actor.id}`]),
  resumed: ({ data, actor }) => told("▶", "green", ["resume", `${actor.id}${data.acceptCheck ? " accepts the changed check" : ""}`]),
  guidance: ({ actor }) => told("✎", "cyan", ["guide", `from ${actor.id}`]),
  budget_raised: ({ actor }) => told("+", "cyan", ["budget", `raised by ${actor.id}`]),
  cancel_requested: ({ actor }) => told("■", "red", ["cancel", `asked for by ${actor.id}`]),
  child_opened: ({ data }) => told("⤷", "cyan", ["child", data.child]),
  child_refused: ({ data }) => told("⤷", "red", ["no child", `more than ${data.bound} ${data.limit}`]),
  child_closed: ({ data }) => told("⤶", "cyan", ["child", `${data.child}: ${data.disposition}`]),
  error: ({ data }) => told("!", "red", ["error", `${data.code}: ${oneLine(data.message)}`]),
  receipt: ({ data }) => told("★", "green", ["receipt", `${data.check.name} holds${data.revision ? ` at ${short(data.revision)}` : ""}`]),
  status: ({ data }) => told("◇", "bold", ["status", `${data.disposition}${data.reason ? ` (${data.reason})` : ""}${data.error ? `: ${oneLine(data.error)}` : ""}`]),
};

/** What an accepted record says; null for those that only matter to the machine. */
export function tell(record: LedgerRecord): Told | null {
  const teller = tellers[record.type] as ((record: LedgerRecord) => Told) | undefined;
  return teller?.(record) ?? null;
}
/** A record that changes nothing, and why. */
export function tellRefused(record: LedgerRecord, reason: VoidReason): Told {
  return told("⊘", "dim", ["void", `${record.type} by ${record.actor.kind} ${short(record.actor.id)}: ${reason.replaceAll("_", " ")}`]);
}

/** First line of a text without white space at its ends; what is longer than a screen is cut, and nothing in it can steer a terminal. */
export function oneLine(text: string): string {
  const line = plainText(text).split("\n").map((part) => part.trim()).find((part) => part !== "") ?? "";
  return cutWithMark(line, 300);
}
/** Without sequences and characters that steer a terminal; line ends and tabs stay. */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken out.
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}
function short(text: string): string {
  return cutWithMark(text, 24);
}
/** The line of a check's output that names the failure: for a person it says more than the next step that was made of it. */
function lastOutput(evidence: Json): string | null {
  const line = tellingLineOf(evidence);
  return line === null ? null : oneLine(line);
}
function nextStepText(steps: readonly NextStep[]): string {
  const [first] = steps;
  if (first === undefined) return "";
  const text = typeof first === "string" ? oneLine(first) : `goal: ${oneLine(first.goal.goal)}`;
  return `${text}${steps.length > 1 ? ` (and ${steps.length - 1} more)` : ""}`;
}
function brief(value: Json): string {
  if (value === null) return "";
  const text = JSON.stringify(value);
  return cutWithMark(text, 100);
}
function usageText(usage: { readonly costUsd?: number | undefined; readonly tokensIn?: number | undefined; readonly tokensOut?: number | undefined }): string {
  const tokens = (usage.tokensIn ?? 0) + (usage.tokensOut ?? 0);
  const parts = [...(usage.costUsd ? [`$${usage.costUsd.toFixed(2)}`] : []), ...(tokens > 0 ? [`${tokens} tokens`] : [])];
  return parts.length > 0 ? ` (${parts.join(", ")})` : "";
}
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
export function seconds(value: number): string {
  return value < 60 ? `${value < 10 ? value.toFixed(1) : Math.round(value)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}
